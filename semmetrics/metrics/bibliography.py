"""The publications that definitions and protocols cite, as BibTeX.

Examples
--------
>>> print(entry("sorower2010").bibtex())
@techreport{sorower2010,
  author = {Sorower, Mohammad S.},
  title = {A Literature Survey on Algorithms for Multi-label Learning},
  institution = {Oregon State University, Corvallis},
  year = {2010}
}
"""

from __future__ import annotations

from dataclasses import dataclass

from semmetrics.errors import InputError

__all__ = ["BIBLIOGRAPHY", "SAME", "Entry", "entry"]


@dataclass(frozen=True)
class Entry:
    """A publication.

    Attributes
    ----------
    key, kind : str
        "godbole2004", "inproceedings".
    fields : tuple of pairs
        Name and value, in the order in which they are written.
    """

    key: str
    kind: str
    fields: tuple[tuple[str, str], ...]

    def bibtex(self) -> str:
        """The entry as BibTeX reads it."""
        lines = ",\n".join(f"  {name} = {{{value}}}" for name, value in self.fields)
        return f"@{self.kind}{{{self.key},\n{lines}\n}}"


def _entry(key: str, kind: str, **fields: str) -> Entry:
    return Entry(key, kind, tuple(fields.items()))


_ENTRIES = (
    _entry(
        "kubany2020",
        "article",
        author="Kubany, Adam and Ben Ishay, Shimon and Ohayon, Ruben Sacha and Shmilovici, Armin "
        "and Rokach, Lior and Doitshman, Tomer",
        title="Comparison of State-of-the-Art Deep Learning {API}s for Image Multi-Label "
        "Classification Using Semantic Metrics",
        journal="Expert Systems with Applications",
        volume="161",
        pages="113656",
        year="2020",
        doi="10.1016/j.eswa.2020.113656",
    ),
    _entry(
        "pineda2019",
        "article",
        author="Pineda, Luis and Salvador, Amaia and Drozdzal, Michal and Romero, Adriana",
        title="Elucidating Image-to-Set Prediction: An Analysis of Models, Losses and Datasets",
        journal="arXiv preprint arXiv:1904.05709",
        year="2019",
    ),
    _entry(
        "godbole2004",
        "inproceedings",
        author="Godbole, Shantanu and Sarawagi, Sunita",
        title="Discriminative Methods for Multi-labeled Classification",
        booktitle="Advances in Knowledge Discovery and Data Mining",
        pages="22--30",
        publisher="Springer",
        year="2004",
    ),
    _entry(
        "sorower2010",
        "techreport",
        author="Sorower, Mohammad S.",
        title="A Literature Survey on Algorithms for Multi-label Learning",
        institution="Oregon State University, Corvallis",
        year="2010",
    ),
    _entry(
        "schapire2000",
        "article",
        author="Schapire, Robert E. and Singer, Yoram",
        title="{BoosTexter}: A Boosting-based System for Text Categorization",
        journal="Machine Learning",
        volume="39",
        number="2--3",
        pages="135--168",
        year="2000",
        doi="10.1023/A:1007649029923",
    ),
    _entry(
        "tsoumakas2010",
        "incollection",
        author="Tsoumakas, Grigorios and Katakis, Ioannis and Vlahavas, Ioannis",
        title="Mining Multi-label Data",
        booktitle="Data Mining and Knowledge Discovery Handbook",
        edition="2",
        pages="667--685",
        publisher="Springer",
        year="2010",
    ),
    _entry(
        "manning2008",
        "book",
        author='Manning, Christopher D. and Raghavan, Prabhakar and Sch{\\"u}tze, Hinrich',
        title="Introduction to Information Retrieval",
        publisher="Cambridge University Press",
        year="2008",
    ),
    _entry(
        "brodersen2010",
        "inproceedings",
        author="Brodersen, Kay H. and Ong, Cheng Soon and Stephan, Klaas E. and Buhmann, "
        "Joachim M.",
        title="The Balanced Accuracy and Its Posterior Distribution",
        booktitle="20th International Conference on Pattern Recognition",
        pages="3121--3124",
        year="2010",
        doi="10.1109/ICPR.2010.764",
    ),
    _entry(
        "everingham2010",
        "article",
        author="Everingham, Mark and Van Gool, Luc and Williams, Christopher K. I. and Winn, John "
        "and Zisserman, Andrew",
        title="The {Pascal} Visual Object Classes ({VOC}) Challenge",
        journal="International Journal of Computer Vision",
        volume="88",
        number="2",
        pages="303--338",
        year="2010",
        doi="10.1007/s11263-009-0275-4",
    ),
    _entry(
        "lin2014",
        "inproceedings",
        author="Lin, Tsung-Yi and Maire, Michael and Belongie, Serge and Hays, James and Perona, "
        "Pietro and Ramanan, Deva and Doll{\\'a}r, Piotr and Zitnick, C. Lawrence",
        title="Microsoft {COCO}: Common Objects in Context",
        booktitle="Computer Vision -- ECCV 2014",
        pages="740--755",
        publisher="Springer",
        year="2014",
        doi="10.1007/978-3-319-10602-1_48",
    ),
    _entry(
        "kusner2015",
        "inproceedings",
        author="Kusner, Matt J. and Sun, Yu and Kolkin, Nicholas I. and Weinberger, Kilian Q.",
        title="From Word Embeddings to Document Distances",
        booktitle="Proceedings of the 32nd International Conference on Machine Learning",
        series="Proceedings of Machine Learning Research",
        volume="37",
        pages="957--966",
        year="2015",
    ),
    _entry(
        "zhang2020",
        "inproceedings",
        author="Zhang, Tianyi and Kishore, Varsha and Wu, Felix and Weinberger, Kilian Q. and "
        "Artzi, Yoav",
        title="{BERTScore}: Evaluating Text Generation with {BERT}",
        booktitle="International Conference on Learning Representations",
        year="2020",
    ),
    _entry(
        "kiritchenko2005",
        "inproceedings",
        author="Kiritchenko, Svetlana and Matwin, Stan and Famili, A. Fazel",
        title="Functional Annotation of Genes Using Hierarchical Text Categorization",
        booktitle="{BioLINK} {SIG}: Linking Literature, Information and Knowledge for Biology",
        year="2005",
    ),
    _entry(
        "kiritchenko2006",
        "inproceedings",
        author="Kiritchenko, Svetlana and Matwin, Stan and Nock, Richard and Famili, A. Fazel",
        title="Learning and Evaluation in the Presence of Class Hierarchies: Application to Text "
        "Categorization",
        booktitle="Advances in Artificial Intelligence: Canadian {AI} 2006",
        series="Lecture Notes in Computer Science",
        volume="4013",
        pages="395--406",
        publisher="Springer",
        year="2006",
    ),
    _entry(
        "silla2011",
        "article",
        author="Silla, Jr., Carlos N. and Freitas, Alex A.",
        title="A Survey of Hierarchical Classification Across Different Application Domains",
        journal="Data Mining and Knowledge Discovery",
        volume="22",
        number="1--2",
        pages="31--72",
        year="2011",
        doi="10.1007/s10618-010-0175-9",
    ),
    _entry(
        "deng2010",
        "inproceedings",
        author="Deng, Jia and Berg, Alexander C. and Li, Kai and Fei-Fei, Li",
        title="What Does Classifying More Than 10,000 Image Categories Tell Us?",
        booktitle="Computer Vision -- ECCV 2010",
        pages="71--84",
        publisher="Springer",
        year="2010",
        doi="10.1007/978-3-642-15555-0_6",
    ),
    _entry(
        "bertinetto2020",
        "inproceedings",
        author="Bertinetto, Luca and Mueller, Romain and Tertikas, Konstantinos and "
        "Samangooei, Sina and Lord, Nicholas A.",
        title="Making Better Mistakes: Leveraging Class Hierarchies with Deep Networks",
        booktitle="IEEE/CVF Conference on Computer Vision and Pattern Recognition",
        year="2020",
    ),
    _entry(
        "papineni2002",
        "inproceedings",
        author="Papineni, Kishore and Roukos, Salim and Ward, Todd and Zhu, Wei-Jing",
        title="{BLEU}: a Method for Automatic Evaluation of Machine Translation",
        booktitle="Proceedings of the 40th Annual Meeting of the Association for Computational "
        "Linguistics",
        pages="311--318",
        year="2002",
        doi="10.3115/1073083.1073135",
    ),
    _entry(
        "lin2004",
        "inproceedings",
        author="Lin, Chin-Yew",
        title="{ROUGE}: A Package for Automatic Evaluation of Summaries",
        booktitle="Text Summarization Branches Out",
        pages="74--81",
        year="2004",
    ),
    _entry(
        "vedantam2015",
        "inproceedings",
        author="Vedantam, Ramakrishna and Zitnick, C. Lawrence and Parikh, Devi",
        title="{CIDEr}: Consensus-based Image Description Evaluation",
        booktitle="IEEE Conference on Computer Vision and Pattern Recognition",
        pages="4566--4575",
        year="2015",
        doi="10.1109/CVPR.2015.7299087",
    ),
    _entry(
        "chen2015",
        "article",
        author="Chen, Xinlei and Fang, Hao and Lin, Tsung-Yi and Vedantam, Ramakrishna and "
        "Gupta, Saurabh and Doll{\\'a}r, Piotr and Zitnick, C. Lawrence",
        title="Microsoft {COCO} Captions: Data Collection and Evaluation Server",
        journal="arXiv preprint arXiv:1504.00325",
        year="2015",
    ),
    _entry(
        "banerjee2005",
        "inproceedings",
        author="Banerjee, Satanjeev and Lavie, Alon",
        title="{METEOR}: An Automatic Metric for {MT} Evaluation with Improved Correlation with "
        "Human Judgments",
        booktitle="Proceedings of the {ACL} Workshop on Intrinsic and Extrinsic Evaluation "
        "Measures for Machine Translation and/or Summarization",
        pages="65--72",
        year="2005",
    ),
    _entry(
        "lavie2007",
        "inproceedings",
        author="Lavie, Alon and Agarwal, Abhaya",
        title="{METEOR}: An Automatic Metric for {MT} Evaluation with High Levels of Correlation "
        "with Human Judgments",
        booktitle="Proceedings of the Second Workshop on Statistical Machine Translation",
        pages="228--231",
        year="2007",
    ),
    _entry(
        "denkowski2014",
        "inproceedings",
        author="Denkowski, Michael and Lavie, Alon",
        title="Meteor Universal: Language Specific Translation Evaluation for Any Target Language",
        booktitle="Proceedings of the Ninth Workshop on Statistical Machine Translation",
        pages="376--380",
        year="2014",
        doi="10.3115/v1/W14-3348",
    ),
    _entry(
        "wan2022",
        "article",
        author="Wan, Boyang and Jiang, Wenhui and Fang, Yu-Ming and Zhu, Minwei and Li, Qin and "
        "Liu, Yang",
        title="Revisiting Image Captioning via Maximum Discrepancy Competition",
        journal="Pattern Recognition",
        volume="122",
        pages="108358",
        year="2022",
        doi="10.1016/j.patcog.2021.108358",
    ),
)

BIBLIOGRAPHY: dict[str, Entry] = {one.key: one for one in _ENTRIES}
SAME = {
    "tsoumakas2009": "tsoumakas2010",  # one chapter, cited under the year of either printing
    "coco-caption": "chen2015",  # what a protocol is called
}


def entry(key: str) -> Entry:
    """The publication of that key.

    Raises
    ------
    InputError
        If there is none.
    """
    key = SAME.get(key, key)
    if key not in BIBLIOGRAPHY:
        raise InputError(f"there is no publication {key!r}")
    return BIBLIOGRAPHY[key]
