"""Classes made by `semmetrics.frozen.dataclass` behave as those of the standard library."""

import copy
import dataclasses
import pickle
from typing import Any

import pytest

from semmetrics import frozen


def _classes(dataclass: Any) -> tuple[type, type, type]:
    @dataclass(frozen=True)
    class Point:
        x: int
        y: list[int] = dataclasses.field(default_factory=list, compare=False)
        hidden: str = dataclasses.field(default="h", repr=False)

    @dataclass(frozen=True)
    class Named(Point):
        name: str = "n"

        def __post_init__(self) -> None:
            object.__setattr__(self, "name", self.name.upper())

    @dataclass(frozen=True, eq=False, kw_only=True)
    class Own:
        value: int

        def __repr__(self) -> str:
            return f"<{self.value}>"

    return Point, Named, Own


Point, Named, Own = _classes(frozen.dataclass)
for made in (Point, Named, Own):  # so that pickle finds them
    made.__qualname__ = made.__name__


@pytest.fixture(params=["semmetrics", "standard"])
def classes(request):
    return _classes(frozen.dataclass if request.param == "semmetrics" else dataclasses.dataclass)


def test_records_are_shown_and_compared_by_their_fields(classes):
    point, named, own = classes
    assert repr(point(1, [2])).endswith("Point(x=1, y=[2])")
    assert point(1, [2]) == point(1, [3]) != point(2, [2])
    assert hash(point(1, [2])) == hash(point(1, [3]))
    assert point(1) != point(1, hidden="other")
    assert point(1) != named(1)
    assert point(1) != 1
    assert named(1, name="a").name == "A"
    assert named(1) == named(1)
    assert own(value=1) != own(value=1)
    assert repr(own(value=1)) == "<1>"


def test_records_do_not_change(classes):
    point, named, own = classes
    for made in (point(1), named(1), own(value=1)):
        for name in (*(f.name for f in dataclasses.fields(made)), "another"):
            with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign"):
                setattr(made, name, 3)
        with pytest.raises(dataclasses.FrozenInstanceError, match="cannot delete"):
            del made.value
    with pytest.raises(TypeError):
        own(1)


def test_what_the_standard_library_does_with_records(classes):
    point, named, _ = classes
    assert dataclasses.replace(point(1, [2]), x=3) == point(3, [2])
    assert dataclasses.asdict(named(1)) == {"x": 1, "y": [], "hidden": "h", "name": "N"}
    assert copy.deepcopy(named(1, [2])) == named(1, [2])


@pytest.mark.parametrize("made", [Point(1, [2]), Named(1), Own(value=4)])
def test_records_are_pickled(made):
    again = pickle.loads(pickle.dumps(made))
    assert vars(again) == vars(made)
    assert type(again) is type(made)
    with pytest.raises(dataclasses.FrozenInstanceError):
        again.x = 1
