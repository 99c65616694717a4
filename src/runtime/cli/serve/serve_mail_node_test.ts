import { Buffer } from "node:buffer";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { Mail } from "../../../oauth/mail/mail.ts";
import { createSendMail, writeMessage } from "./serve_mail.ts";

const test = suite("trivet serve: mail");
const folder = mkdtempSync(join(tmpdir(), "trivet-mail-"));
const FROM = "login@example.com";
const MAIL: Mail = {
  to: "alice@example.com",
  subject: "Passwort zurücksetzen bei Größenwahn & Söhne, der Firma mit dem sehr langen Namen",
  text: "Öffnen Sie diesen Link:\n\nhttps://as.example/login/reset?token=x\n.\nEnde\n",
  kind: "password_reset",
  language: "de",
};

test.after(() => rmSync(folder, { recursive: true }));

function writeProgram(name: string, body: string): string {
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\n${body}\n`);
  chmodSync(path, 0o755);
  return path;
}

test("a message has one recipient, encoded words and a body of short lines", () => {
  const message = writeMessage(MAIL, FROM);
  const [head, body] = message.split("\n\n") as [string, string];
  assert.match(head, /^From: login@example\.com\nTo: alice@example\.com\nSubject: =\?utf-8\?B\?/);
  assert.ok(message.split("\n").every((line) => line.length <= 78), message);
  const words = [...head.matchAll(/=\?utf-8\?B\?([^?]+)\?=/g)];
  assert.is(words.map(([, word]) => Buffer.from(word!, "base64").toString()).join(""), MAIL.subject);
  assert.ok(words.every(([word]) => word.length <= 75));
  assert.is(Buffer.from(body, "base64").toString(), MAIL.text);
  assert.match(head, "Auto-Submitted: auto-generated");
  assert.match(writeMessage({ ...MAIL, subject: "Plain" }, FROM), "\nSubject: Plain\n");
});

test("the program gets the message and no argument that a visitor chose", async () => {
  const program = writeProgram("sendmail", `echo "$@" > ${folder}/args; cat > ${folder}/message`);
  await createSendMail({ "mail-program": program, "mail-from": FROM })!(MAIL);
  assert.is(readFileSync(join(folder, "args"), "utf8"), "-t -i\n");
  assert.match(readFileSync(join(folder, "message"), "utf8"), "To: alice@example.com");
});

test("a program that fails, reads nothing or was removed rejects", async () => {
  const failing = writeProgram("failing", 'echo "mailbox is full" >&2; exit 75');
  const removed = writeProgram("removed", "");
  for (
    const [program, reason] of [[failing, /code 75: mailbox is full/], [
      removed,
      /ENOENT/,
    ]] as const
  ) {
    const text = "x".repeat(1_000_000);
    const sendMail = createSendMail({ "mail-program": program, "mail-from": FROM })!;
    if (program === removed) rmSync(removed);
    const error = await sendMail({ ...MAIL, text })
      .catch((
        error,
      ) => error);
    assert.match(error.message, reason);
  }
});

test("without a program nothing is printed unless standard error is a terminal", () => {
  const before = process.stderr.isTTY;
  try {
    process.stderr.isTTY = false;
    assert.is(createSendMail({}), undefined);
    process.stderr.isTTY = true;
    assert.type(createSendMail({}), "function");
  } finally {
    process.stderr.isTTY = before;
  }
});

test("a program needs a sender, and a sender a program", () => {
  assert.throws(() => createSendMail({ "mail-program": "/usr/sbin/sendmail" }), /--mail-from/);
  assert.throws(() => createSendMail({ "mail-from": FROM }), /--mail-program/);
  assert.not(existsSync(join(folder, "no")));
});

test("a program that cannot be run, and a sender that is no address, are refused", () => {
  const text = join(folder, "text");
  writeFileSync(text, "no program");
  for (const program of [join(folder, "no"), folder, text, "no-such-program"]) {
    assert.throws(() => createSendMail({ "mail-program": program, "mail-from": FROM }), /--mail-program/);
  }
  for (
    const from of [
      "foo",
      "a@",
      "@b.example",
      "a@b.example\nBcc: c@d.example",
      "foo <bar>",
      "a@b.example, c@d.example",
    ]
  ) {
    assert.throws(() => createSendMail({ "mail-program": "/bin/sh", "mail-from": from }), /--mail-from/);
  }
  assert.type(
    createSendMail({ "mail-program": "sh", "mail-from": "Trivet <login@example.com>" }),
    "function",
  );
  assert.match(writeMessage(MAIL, "Trivet <login@example.com>"), /^Message-ID: <[^<>]+@example\.com>$/m);
});

test.run();
