"""What people read of names, cells and places in files."""

from tvcs_core.files.display import CELL, LINE, cut, in_lines, message, unquoted
from tvcs_core.files.tables import read_table


def test_a_long_text_keeps_both_of_its_ends():
    text = "a" * 60 + "b" * 60
    assert cut(text) == unquoted(text) == "a" * 51 + "..." + "b" * 26
    assert cut(text, 120) == text
    long = "".join(chr(ord("a") + k // 26 % 26) + chr(ord("a") + k % 26) for k in range(200))
    for length in range(0, 400, 7):
        assert unquoted(long[:length]) == cut(long[:length])
        assert len(unquoted(long[:length])) == min(length, CELL)


def test_a_message_is_cut_where_it_quotes_and_as_a_whole():
    quoted = f"must be a number, found {'x' * 300!r}; write one"
    assert message(quoted) == f"must be a number, found '{'x' * 50}...{'x' * 25}'; write one"
    assert len(message("x" * 1000)) == LINE
    assert message("x" * (CELL + 1)) == "x" * (CELL + 1)


def test_a_long_text_is_broken_between_its_sentences():
    sentences = [f"This is sentence {k} of version 1.5, which {'so ' * 30}ends." for k in range(9)]
    lines = in_lines(" ".join(sentences))
    assert " ".join(lines) == " ".join(sentences)
    assert len(lines) > 1
    assert all(len(line) <= LINE and line.endswith("ends.") for line in lines)
    assert in_lines("x" * 1000) == ["x" * 1000]
    assert in_lines(sentences[0]) == sentences[:1]


def test_a_place_in_the_header_is_a_number_and_below_it_a_name(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    table = read_table(tmp_path / "t.csv")
    assert str(table.error("bad", 0, 1)).endswith("t.csv:1, column 2: bad")
    assert str(table.error("bad", 1, 1)).endswith("t.csv:2, column 'b': bad")
