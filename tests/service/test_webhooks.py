"""Messages as a real receiver gets them: bodies, signatures, tries, and what is never in them."""

import base64
import hashlib
import hmac
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import pytest

from assistant.model import InputError
from assistant.service import webhooks
from assistant.service.alerts import Alert, Seen, Sent
from assistant.settings import Webhook


class Receiver:
    """An HTTP server on loopback that keeps what it gets and answers as told."""

    def __init__(self):
        self.got = []
        self.answers = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                outer.got.append((self.path, dict(self.headers), body))
                status, headers, text = outer.answers.pop(0) if outer.answers else (200, {}, '{"code":0,"errcode":0}')
                self.send_response(status)
                for name, value in {**headers, "Content-Length": str(len(text))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, *arguments):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = False
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook/token-1"
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01})
        self.thread.start()

    def close(self):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()

    @property
    def documents(self):
        return [json.loads(body) for _, _, body in self.got]


@pytest.fixture
def receiver():
    held = Receiver()
    yield held
    held.close()


def alert(**changed):
    fields = {
        "key": "k1", "rule": "length_collapse", "severity": "critical", "statement": "Length fell to <9.04> & stays.",
        "metrics": ("response_length/mean",), "run": "train.log", "source": "/home/me/runs/train.log", "step": 22,
        "line": 241, **changed,
    }  # fmt: skip
    return Alert(**fields)


def send(receiver, kind, alerts=None, *, secret="", language="en", pauses=None):
    waited = [] if pauses is None else pauses
    hook = Webhook(kind, receiver.url, secret)
    webhooks.deliver(hook, alerts or [alert()], language, sleep=waited.append, clock=lambda: 1700000000.5)


def test_feishu_message_is_a_signed_post(receiver):
    send(receiver, "feishu", secret="s3cret", language="zh")
    (document,) = receiver.documents
    key = b"1700000000\ns3cret"
    assert document["timestamp"] == "1700000000"
    assert document["sign"] == base64.b64encode(hmac.new(key, b"", hashlib.sha256).digest()).decode()
    post = document["content"]["post"]["zh_cn"]
    assert (document["msg_type"], post["title"]) == ("post", "训练告警：train.log 有 1 条严重问题")
    assert "第 241 行" in post["content"][0][0]["text"]


def test_dingtalk_message_is_markdown_signed_in_the_query(receiver):
    send(receiver, "dingtalk", secret="SEC1")
    path, _, body = receiver.got[0]
    query = parse_qs(urlsplit(path).query)
    stamp = query["timestamp"][0]
    expected = hmac.new(b"SEC1", f"{stamp}\nSEC1".encode(), hashlib.sha256).digest()
    assert (stamp, query["sign"][0]) == ("1700000000500", base64.b64encode(expected).decode())
    assert json.loads(body)["markdown"]["title"] == "Training alert: 1 critical in train.log"
    assert "\\<9.04\\>" in json.loads(body)["markdown"]["text"]


def test_slack_message_escapes_its_three_characters(receiver):
    receiver.answers = [(200, {}, "ok")]
    send(receiver, "slack", [alert(), alert(key="k2", severity="warning")])
    (document,) = receiver.documents
    assert document["text"] == "Training alert: 1 critical and 1 warning in train.log"
    assert "&lt;9.04&gt; &amp; stays" in document["blocks"][1]["text"]["text"]


def test_json_message_is_signed_over_its_body(receiver):
    send(receiver, "json", secret="k")
    _, headers, body = receiver.got[0]
    assert headers["X-Signature-256"] == "sha256=" + hmac.new(b"k", body, hashlib.sha256).hexdigest()
    (told,) = json.loads(body)["alerts"]
    assert (told["source"], told["step"], told["line"]) == ("train.log", 22, 241)


@pytest.mark.parametrize("kind", ["feishu", "dingtalk", "slack", "json"])
@pytest.mark.parametrize("language", ["zh", "en"])
def test_message_names_no_folder_and_at_most_ten_findings(receiver, kind, language):
    send(receiver, kind, [alert(key=f"k{n}", rule=f"rule_{n}", step=n) for n in range(14)], language=language)
    text = receiver.got[0][2].decode()
    assert "/home/me" not in text
    if kind != "json":
        assert ("另有 4 条" if language == "zh" else "4 more") in text


def test_delivery_is_tried_again_after_what_the_server_asks_for(receiver):
    pauses = []
    receiver.answers = [(503, {}, ""), (429, {"Retry-After": "7"}, "")]
    send(receiver, "json", pauses=pauses)
    assert len(receiver.got) == 3
    assert 0.8 <= pauses[0] <= 1.2
    assert pauses[1] == 7.0


def test_delivery_that_is_refused_is_not_tried_again(receiver):
    receiver.answers = [(400, {}, "")]
    with pytest.raises(webhooks.Undelivered, match="HTTP 400"):
        send(receiver, "slack")
    assert len(receiver.got) == 1


def test_delivery_gives_up_after_some_tries(receiver):
    receiver.answers = [(500, {}, "")] * 9
    with pytest.raises(webhooks.Undelivered) as caught:
        send(receiver, "json")
    assert len(receiver.got) == webhooks.TRIES
    assert "token-1" not in str(caught.value)


@pytest.mark.parametrize(
    ("kind", "answer", "tries"),
    [
        ("feishu", '{"code":19021,"msg":"sign match fail"}', 1),
        ("feishu", '{"code":11232,"msg":"frequency limited"}', webhooks.TRIES),
        ("dingtalk", '{"errcode":310000,"errmsg":"sign not match"}', 1),
        ("dingtalk", "<html>", 1),
    ],
)
def test_delivery_an_error_with_status_200_is_one(receiver, kind, answer, tries):
    receiver.answers = [(200, {}, answer)] * 9
    with pytest.raises(webhooks.Undelivered):
        send(receiver, kind)
    assert len(receiver.got) == tries


def test_delivery_to_nobody_is_told_without_the_address():
    hook = Webhook("json", "http://127.0.0.1:1/secret-path")
    with pytest.raises(webhooks.Undelivered) as caught:
        webhooks.deliver(hook, [alert()], "en", sleep=lambda _: None)
    assert "secret-path" not in caught.value.zh + caught.value.en


@pytest.mark.parametrize("url", ["feishu.cn/hook", "ftp://a/b", "http://"])
def test_address_that_is_none_is_refused(url):
    with pytest.raises(InputError, match="https"):
        webhooks.check_address(Webhook("feishu", url))


def test_seen_tells_each_finding_once_and_again_when_it_is_graver():
    seen = Seen()
    assert seen.fresh([alert(severity="warning")]) == (alert(severity="warning"),)
    assert seen.fresh([alert(severity="warning", statement="Longer since.")]) == ()
    assert seen.fresh([alert()]) == (alert(),)
    assert seen.fresh([alert(severity="warning")]) == ()


def test_sent_is_remembered_for_a_week_and_by_receiver(tmp_path):
    sent = Sent(tmp_path / "notified.json")
    sent.sent("slack", [alert(severity="warning")], now=0.0)
    again = Sent(tmp_path / "notified.json")
    assert again.unsent("slack", [alert(severity="warning")], now=10.0) == ()
    assert again.unsent("slack", [alert()], now=10.0) == (alert(),)
    assert again.unsent("feishu", [alert(severity="warning")], now=10.0) != ()
    assert again.unsent("slack", [alert(severity="warning")], now=8 * 86400.0) != ()


def test_sent_damaged_file_counts_as_empty(tmp_path):
    (tmp_path / "notified.json").write_text('{"a": 3', encoding="utf-8")
    assert Sent(tmp_path / "notified.json").unsent("slack", [alert()]) == (alert(),)
