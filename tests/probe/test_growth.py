"""Which name of the user's holds what calls returned."""

from __future__ import annotations

from aoti_debug.probe.growth import _holder


class Watch:
    def __init__(self) -> None:
        self.outputs: list[object] = []


class Service:
    def __init__(self) -> None:
        self.watch = Watch()


def test_the_attribute_of_an_object_that_another_one_has_is_named() -> None:
    service, output = Service(), object()
    service.watch.outputs.append(output)
    found = _holder([output])
    assert (found["name"], found["kind"], found["size"]) == ("Watch.outputs", "list", 1)
    assert found["caller"][1] == 20
