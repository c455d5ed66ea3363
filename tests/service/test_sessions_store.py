"""Sessions, logs and messages in SQLite and in a real PostgreSQL: what is kept, whose it is, and how it goes."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from assistant.service import Source
from assistant.service.sessions.attaching import MOST_RUNS, Runs
from assistant.service.sessions.conversing import Messages
from assistant.service.sessions.database import Database, database_url
from assistant.service.sessions.errors import (
    DatabaseMisconfigured,
    DatabaseUnavailable,
    KeyReused,
    MessageNotFound,
    RunNotFound,
    SessionFull,
    SessionNotFound,
    TextNotKept,
)
from assistant.service.sessions.keeping import Sessions
from assistant.service.sessions.pending import MOST_ATTEMPTS
from assistant.service.sessions.reading import PIECE, pieces, read_sources, text_of
from assistant.service.sessions.records import Asked, Outcome, packed
from assistant.service.sessions.tables import metadata, sessions
from tests.service.postgres import postgres_url, url

__all__ = ["postgres_url", "url"]

ROOT = Path(__file__).resolve().parents[2]
LOG = (ROOT / "examples" / "verl-retool-steps-0-3.log").read_text(encoding="utf-8")
READ = read_sources([Source("a.log", LOG.encode())], keep_text=True).sources
DONE = Outcome("done", "text", packed(b'{"answer":"text"}'), '{"x": 1}')


class Store:
    """The tables of one database, as two processes see them."""

    def __init__(self, address: str) -> None:
        self.database = Database(database_url(address, Path()))
        self.sessions = Sessions(self.database)
        self.runs = Runs(self.database)
        self.one, self.other = Messages(self.database, "one"), Messages(self.database, "other")

    def ask(self, session: str, content: str = "q", **more: Any) -> Any:
        return self.one.post("me", session, content, Asked(content), **more)

    def count(self, table: str) -> int:
        query = sa.select(sa.func.count()).select_from(metadata.tables[table])
        return int(self.database.read(lambda connection: connection.execute(query).scalar_one()))

    def age(self, days: float) -> None:
        """Makes every session that much older."""
        older = sa.update(sessions).values(updated=sessions.c.updated - int(days * 86_400_000_000))
        self.database.write(lambda connection: connection.execute(older))


@pytest.fixture
def store(url: str) -> Generator[Store]:
    made = Store(url)
    yield made
    made.database.close()


@pytest.fixture
def session(store: Store) -> str:
    return store.sessions.create("me", "first").id


# --- sessions --------------------------------------------------------------------------------------------


def test_create_list_and_rename(store: Store, session: str) -> None:
    other = store.sessions.create("me", "second")
    assert [one.title for one in store.sessions.list("me")] == ["second", "first"]
    renamed = store.sessions.change("me", session, title="renamed")
    assert (renamed.title, renamed.id) == ("renamed", session)
    assert [one.id for one in store.sessions.list("me")] == [session, other.id]


def test_list_pages_hold_each_session_once(store: Store) -> None:
    made = [store.sessions.create("me", str(n)).id for n in range(7)]
    found: list[str] = []
    before = ""
    while page := store.sessions.list("me", limit=3, before=before):
        found += [one.id for one in page]
        before = page[-1].id
    assert found == list(reversed(made))


def test_list_before_a_time_leaves_out_later_ones(store: Store, session: str) -> None:
    found = store.sessions.get("me", session)
    later = store.sessions.create("me", "later")
    assert [one.id for one in store.sessions.list("me", before=later.to_json()["updated"])] == [session]
    assert store.sessions.list("me", before=found.to_json()["updated"]) == []


@pytest.mark.parametrize("text", ["熵塌缩", "100%", "a_b", "ENTROPY", "\x00"])
def test_list_search_finds_titles_and_questions(store: Store, session: str, text: str) -> None:
    titled = store.sessions.create("me", f"about {text} here").id
    store.ask(session, f"why {text.lower()} now")
    store.sessions.create("me", "100x axb entrop")
    assert {one.id for one in store.sessions.list("me", text=text)} == {titled, session}


def test_owner_sees_only_its_own(store: Store, session: str) -> None:
    posted = store.ask(session)
    store.runs.add("me", session, READ)
    assert store.sessions.list("other") == []
    for act in (
        lambda: store.sessions.get("other", session),
        lambda: store.sessions.change("other", session, title="x"),
        lambda: store.sessions.delete("other", session),
        lambda: store.runs.all("other", session),
        lambda: store.runs.lines("other", session, "r0", 1, 1),
        lambda: store.runs.add("other", session, READ),
        lambda: store.runs.delete("other", session, "r0"),
        lambda: store.one.list("other", session),
        lambda: store.one.get("other", session, posted.user.id),
        lambda: store.one.post("other", session, "q", Asked("q")),
    ):
        with pytest.raises(SessionNotFound):
            act()
    assert store.sessions.get("me", session).n_messages == 2


@pytest.mark.parametrize("name", ["", "nope", "0" * 20, "\x00", "a" * 5000, "' OR 1=1 --"])
def test_get_unknown_session_is_not_found(store: Store, name: str) -> None:
    with pytest.raises(SessionNotFound):
        store.sessions.get("me", name)


def test_create_same_key_gives_the_same_session(store: Store) -> None:
    one = store.sessions.create("me", "t", key="k", fingerprint="f")
    assert store.sessions.create("me", "t", key="k", fingerprint="f").id == one.id
    assert store.sessions.create("you", "t", key="k", fingerprint="f").id != one.id
    with pytest.raises(KeyReused):
        store.sessions.create("me", "u", key="k", fingerprint="g")


def test_delete_takes_everything_along(store: Store, session: str) -> None:
    store.runs.add("me", session, READ, key="k", fingerprint="f")
    posted = store.ask(session, key="m", fingerprint="f")
    store.one.show(posted.reply.id, [(1, "delta", {"text": "x"})])
    store.sessions.delete("me", session)
    assert [name for name in metadata.tables if store.count(name)] == []
    with pytest.raises(SessionNotFound):
        store.sessions.get("me", session)


def test_forget_deletes_only_what_is_old_and_at_rest(store: Store, session: str) -> None:
    busy = store.sessions.create("me", "busy").id
    store.ask(busy)
    store.age(31)
    fresh = store.sessions.create("me", "fresh").id
    assert store.sessions.forget(0) == 0
    assert store.sessions.forget(30) == 1
    assert {one.id for one in store.sessions.list("me")} == {busy, fresh}


# --- runs ------------------------------------------------------------------------------------------------


def test_add_runs_get_ids_that_are_never_used_again(store: Store, session: str) -> None:
    added = store.runs.add("me", session, [*READ, *READ]).runs
    assert [run.rid for run in added] == ["r0", "r1"]
    store.runs.delete("me", session, "r1")
    assert [run.rid for run in store.runs.add("me", session, READ).runs] == ["r2"]
    assert [run.rid for run in store.runs.all("me", session)] == ["r0", "r2"]
    assert store.count("sources") == 2


def test_add_same_key_attaches_once(store: Store, session: str) -> None:
    first = store.runs.add("me", session, READ, "q?", key="k", fingerprint="f")
    assert store.runs.known("me", session, "k", "f") == first
    assert store.runs.add("me", session, READ, "q?", key="k", fingerprint="f") == first
    assert len(store.runs.all("me", session)) == 1


def test_table_comes_back_under_its_name(store: Store, session: str) -> None:
    store.runs.add("me", session, READ)
    store.runs.rename("me", session, "r0", "基线\x00")
    table = store.runs.table(session, "r0")
    assert (table.id, table.name) == ("r0", "基线\ufffd")
    assert table.value("actor/entropy", 3) == pytest.approx(0.151, abs=1e-3)


def test_add_too_many_runs_is_refused_and_nothing_is_stored(store: Store, session: str) -> None:
    with pytest.raises(SessionFull):
        store.runs.add("me", session, list(READ) * (MOST_RUNS + 1))
    assert store.runs.all("me", session) == ()


@pytest.mark.parametrize("rid", ["r9", "x", "", "\x00", "r" + "9" * 50])
def test_unknown_run_is_not_found(store: Store, session: str, rid: str) -> None:
    for act in (store.runs.delete, store.runs.get):
        with pytest.raises(RunNotFound):
            act("me", session, rid)
    with pytest.raises(RunNotFound):
        store.runs.lines("me", session, rid, 1, 1)


def test_lines_are_those_of_the_log(store: Store, session: str) -> None:
    store.runs.add("me", session, READ)
    held = LOG.split("\n")
    assert store.runs.lines("me", session, "r0", 2, 1) == [(n, held[n - 1]) for n in (1, 2, 3)]
    assert store.runs.lines("me", session, "r0", 10**9, 3) == []


def test_lines_across_pieces_of_a_long_text(store: Store, session: str) -> None:
    line = f"step:{{}} - loss:0.5 - note:{'x' * 2000}\n"
    text = "".join(line.format(n) for n in range(1, 1500))
    assert len(text) > 2 * PIECE
    store.runs.add("me", session, read_sources([Source("b.log", text.encode())], keep_text=True).sources)
    second = [first for first, _ in pieces(text)][1]
    found = store.runs.lines("me", session, "r0", second, 2)
    held = text.split("\n")
    assert found == [(n, held[n - 1]) for n in range(second - 2, second + 3)]
    assert store.runs.text(session, 0) == text


def test_lines_where_texts_are_not_kept_say_so(store: Store, session: str) -> None:
    store.runs.add("me", session, read_sources([Source("a.log", LOG.encode())], keep_text=False).sources)
    assert store.count("source_chunks") == 0
    with pytest.raises(TextNotKept):
        store.runs.lines("me", session, "r0", 1, 1)


@pytest.mark.parametrize("text", ["", "a", "a\n", "\n\n", "日志\n" * 10, "x" * (PIECE + 5), "é\r\ny\n"])
def test_pieces_joined_give_the_text(text: str) -> None:
    found = list(pieces(text))
    assert "".join(text_of(data) for _, data in found) == text
    assert [first for first, _ in found] == sorted({first for first, _ in found})


# --- messages --------------------------------------------------------------------------------------------


def test_post_keeps_question_and_pending_answer_in_order(store: Store, session: str) -> None:
    for n in range(3):
        store.ask(session, f"q{n}")
    found = store.one.list("me", session)
    assert [(m.role, m.status) for m in found] == [("user", "done"), ("assistant", "pending")] * 3
    assert [m.seq for m in found] == list(range(6))
    assert [m.reply_to for m in found[1::2]] == [m.id for m in found[::2]]


def test_post_same_key_is_one_message(store: Store, session: str) -> None:
    first = store.ask(session, key="k", fingerprint="f")
    again = store.ask(session, key="k", fingerprint="f")
    assert (first.fresh, again.fresh) == (True, False)
    assert (first.user.id, first.reply.id) == (again.user.id, again.reply.id)
    with pytest.raises(KeyReused):
        store.ask(session, "other", key="k", fingerprint="g")
    assert store.one.known("me", session, "k", "f") == again
    assert len(store.one.list("me", session)) == 2


def test_post_replace_supersedes_all_after_and_goes_back_in_state(store: Store, session: str) -> None:
    first = store.ask(session, "a")
    assert store.one.finish(first.reply.id, Outcome("done", "A", packed(b"{}"), '{"n": 1}'))
    second = store.ask(session, "b")
    assert store.one.finish(second.reply.id, Outcome("done", "B", packed(b"{}"), '{"n": 2}'))
    third = store.ask(session, "c")
    edited = store.ask(session, "b2", replace=second.user.id)
    assert [m.content for m in store.one.list("me", session)] == ["a", "A", "b2", ""]
    work = store.one.work(edited.reply.id)
    assert work is not None
    assert (work.state, work.waits) == ('{"n": 1}', False)
    assert not store.one.finish(third.reply.id, DONE)  # its answer is not wanted any more
    with pytest.raises(MessageNotFound):
        store.ask(session, "again", replace=second.user.id)


def test_post_replace_by_the_answers_id_replaces_its_question(store: Store, session: str) -> None:
    first = store.ask(session, "a")
    store.ask(session, "b", replace=first.reply.id)
    assert [m.content for m in store.one.list("me", session) if m.role == "user"] == ["b"]


def test_post_about_an_unknown_run_stores_nothing(store: Store, session: str) -> None:
    with pytest.raises(RunNotFound):
        store.one.post("me", session, "q", Asked("q", runs=("r7",)))
    assert store.one.list("me", session) == []


def test_post_with_a_log_stores_both(store: Store, session: str) -> None:
    posted = store.ask(session, "look", found=READ)
    assert [run.rid for run in posted.added] == ["r0"]
    assert store.sessions.get("me", session).n_runs == 1


def test_post_text_that_no_database_holds_is_kept_legibly(store: Store, session: str) -> None:
    posted = store.ask(session, "a\x00b\ud800c 熵 🙂")
    assert posted.user.content == "a\ufffdb\ufffdc 熵 🙂"


def test_list_pages_of_messages(store: Store, session: str) -> None:
    for n in range(4):
        store.ask(session, f"q{n}")
    whole = store.one.list("me", session)
    last = store.one.list("me", session, limit=3)
    assert last == whole[-3:]
    assert store.one.list("me", session, limit=100, before=last[0].id) == whole[:-3]


# --- leases ----------------------------------------------------------------------------------------------


def test_finish_belongs_to_the_holder_and_happens_once(store: Store, session: str) -> None:
    reply = store.ask(session).reply.id
    assert not store.other.finish(reply, DONE)
    assert store.one.finish(reply, DONE)
    assert not store.one.finish(reply, Outcome("failed", error={"code": "x"}))
    assert store.one.get("me", session, reply).status == "done"


def test_claim_waits_for_the_end_of_a_lease(store: Store, session: str) -> None:
    reply = store.ask(session).reply.id
    assert store.other.orphans(10) == [(reply, "one", False)]
    assert not store.other.claim(reply, "one")
    assert store.one.renew({reply}) == {reply}
    assert store.other.claim(reply, "one", dead=True)
    assert store.one.renew({reply}) == set()
    assert not store.one.finish(reply, DONE)
    assert store.other.finish(reply, DONE)


def test_claim_by_two_is_won_by_one(store: Store, session: str) -> None:
    reply = store.ask(session).reply.id
    third = Messages(store.database, "third")
    assert [store.other.claim(reply, "one", dead=True), third.claim(reply, "one", dead=True)] == [True, False]


def test_claim_too_often_fails_the_answer_which_can_be_tried_again(store: Store, session: str) -> None:
    reply = store.ask(session).reply.id
    holders = [store.one, store.other] * MOST_ATTEMPTS
    for n in range(MOST_ATTEMPTS - 1):
        assert holders[n + 1].claim(reply, holders[n].me, dead=True)
        assert holders[n + 1].begin(reply) == n + 2
        assert holders[n].begin(reply) == 0
    last = holders[MOST_ATTEMPTS - 1]
    assert not holders[MOST_ATTEMPTS].claim(reply, last.me, dead=True)
    failed = store.one.get("me", session, reply).to_json()
    assert (failed["status"], failed["error"]["code"]) == ("failed", "interrupted")
    assert store.one.again(reply)
    assert store.one.finish(reply, DONE)


def test_hand_back_lets_another_take_over_at_once_and_is_no_attempt(store: Store, session: str) -> None:
    reply = store.ask(session).reply.id
    for _ in range(2 * MOST_ATTEMPTS):
        store.one.hand_back([reply])
        assert store.other.orphans(10) == [(reply, "", True)]
        assert store.one.claim(reply, "")
    assert store.one.begin(reply) == 1


def test_work_waits_for_the_answer_before(store: Store, session: str) -> None:
    first, second = store.ask(session, "a").reply.id, store.ask(session, "b").reply.id
    waiting = store.one.work(second)
    assert waiting is not None
    assert waiting.waits
    store.one.finish(first, DONE)
    ready = store.one.work(second)
    assert ready is not None
    assert (ready.waits, ready.state) == (False, '{"x": 1}')


def test_shown_events_end_with_the_answer(store: Store, session: str) -> None:
    reply = store.ask(session).reply.id
    store.one.show(reply, [(1, "fact", {"id": "E1"}), (2, "delta", {"text": "a"})])
    store.one.show(reply, [(3, "delta", {"text": "b"})])
    store.other.show(reply, [(4, "delta", {"text": "not mine"})])
    assert store.other.shown(reply, 1) == ("pending", 1, [(2, "delta", {"text": "a"}), (3, "delta", {"text": "b"})])
    assert store.other.stop(reply)
    assert store.one.get("me", session, reply).content == "ab"
    assert store.one.shown(reply, 0) == ("stopped", 1, [])
    assert not store.one.finish(reply, DONE)


# --- the address -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+psycopg", "POSTGRES"])
def test_database_url_postgres_means_psycopg(scheme: str) -> None:
    found = database_url(f"{scheme}://u:p@h:5/d", Path())
    assert (found.drivername, found.host, found.port, found.database) == ("postgresql+psycopg", "h", 5, "d")


@pytest.mark.parametrize("given", ["mysql://u:secret@h/d", "secret", "http://secret", "postgres://u:secret@h:x/d"])
def test_database_url_of_another_kind_is_refused_without_repeating_it(given: str) -> None:
    with pytest.raises(DatabaseMisconfigured) as caught:
        database_url(given, Path())
    assert "secret" not in caught.value.en + caught.value.zh


def test_database_url_default_is_a_file_in_the_data_folder(tmp_path: Path) -> None:
    assert database_url("", tmp_path).database == str(tmp_path / "sessions.db")


def test_open_postgres_without_its_driver_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "psycopg", None)
    with pytest.raises(DatabaseMisconfigured, match=r"metric-assistant\[postgres\]"):
        Database(database_url("postgresql://u@h/d", Path())).check()


def test_open_database_that_is_away_says_so_and_tells_no_address() -> None:
    database = Database(database_url("postgresql://u:secret@/d?host=/nonexistent", Path()))
    with pytest.raises(DatabaseUnavailable) as caught:
        database.check()
    database.close()
    assert "nonexistent" not in caught.value.en
    assert "secret" not in caught.value.en + caught.value.reason


def test_open_sqlite_is_for_its_owner_alone_and_durable(tmp_path: Path) -> None:
    database = Database(database_url("", tmp_path / "new"))
    database.check()
    found = [
        database.read(lambda connection, name=name: connection.exec_driver_sql(f"PRAGMA {name}").scalar())  # type: ignore[misc]
        for name in ("journal_mode", "synchronous", "foreign_keys")
    ]
    database.close()
    assert found == ["wal", 2, 1]
    assert (tmp_path / "new" / "sessions.db").stat().st_mode & 0o077 == 0


def test_delete_gives_room_back_to_the_disk(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 's.db'}")
    session = store.sessions.create("me").id
    for _ in range(60):
        store.runs.add("me", session, READ)
    store.database.write(lambda connection: connection.exec_driver_sql("SELECT 1").scalar())
    pages = store.database.read(lambda connection: connection.exec_driver_sql("PRAGMA page_count").scalar_one())
    store.sessions.delete("me", session)
    left = store.database.read(lambda connection: connection.exec_driver_sql("PRAGMA page_count").scalar_one())
    store.database.close()
    assert left < pages / 3
