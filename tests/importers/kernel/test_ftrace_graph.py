"""ftrace's call graphs: the tracer's own figures, whatever columns were chosen."""

import re

from bootlab.importers.kernel import ftrace
from tests.importers.kernel.traces import text_of
from tests.importers.samples import read_text, sample


def test_a_call_graph_has_the_tracers_own_figures() -> None:
    one = sample("debian-13/ftrace-graph.txt.xz")
    own = {stack.frames: (stack.own_ns, stack.calls) for stack in one.stacks}
    assert own["swapper-1", "do_one_initcall", "crypto_algapi_init"] == (577_742_900, 1)
    assert ("insmod-138", "do_one_initcall", "virtio_blk_init [virtio_blk]") in own
    outer = [span for span in one.timeline.spans if span.name == "do_one_initcall"]
    raw = [row for row in text_of("ftrace-graph.txt.xz").splitlines() if re.search(r"\|  \}", row)]
    assert len(outer) == len(raw)
    in_all = sum(own_ns for frames, (own_ns, _) in own.items() if "do_one_initcall" in frames)
    printed = sum(round(float(re.search(r"([\d.]+) us +\|  \}", row)[1]) * 1000) for row in raw)  # type: ignore[index]
    assert in_all == printed


def test_a_graph_without_stamps_has_sums_and_no_spans() -> None:
    one = read_text(
        ftrace.IMPORTER,
        "# tracer: function_graph\n 0)               |  outer() {\n 0)   1.500 us    |    leaf();\n"
        " 0) + 12.250 us   |  }\n 1)   0.333 us    |  other();\n 0)   9.000 us    |  } /* begun before */\n"
        " 0)               |  open() {\n",
    )
    assert {stack.frames: stack.own_ns for stack in one.stacks} == {
        ("CPU 0", "outer", "leaf"): 1_500, ("CPU 0", "outer"): 10_750, ("CPU 1", "other"): 333,
    }  # fmt: skip
    assert one.timeline.spans == ()
    assert any("1 calls had begun before" in note for note in one.notes)
    assert any("1 calls had not returned" in note for note in one.notes)


def test_a_cpu_that_changes_tasks_changes_stacks() -> None:
    one = read_text(
        ftrace.IMPORTER,
        " 0)               |  a() {\n ------------------------------------------\n 0)   one-1    =>   two-2   \n"
        " ------------------------------------------\n\n 0)   2.000 us    |  b();\n",
    )
    assert [stack.frames for stack in one.stacks] == [("two-2", "b")]
