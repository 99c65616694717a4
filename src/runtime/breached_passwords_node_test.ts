import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { MAX_PLAIN_BYTES, openBreachedPasswords } from "./breached_passwords.ts";

const test = suite("runtime/breached_passwords");
const folder = mkdtempSync(join(tmpdir(), "trivet-breached-"));
const digestOf = (text: string) => createHash("sha1").update(text).digest("hex").toUpperCase();

test.after(() => rmSync(folder, { recursive: true }));

function write(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

/** Lines as Have I Been Pwned publishes them. */
function linesOf(passwords: readonly string[], end = "\r\n"): string {
  return passwords.map((password) => `${digestOf(password)}:${password.length * 97}`).sort().join(end) + end;
}

for (const count of [1, 2, 40, 100, 900]) {
  test(`every password of a list of ${count} digests is found, and no other`, async () => {
    const passwords = Array.from({ length: count }, (_, i) => `password-${i}`);
    for (const end of ["\r\n", "\n"]) {
      const content = linesOf(passwords, end);
      for (
        const [form, text] of [["as published", content], ["cut", content.trimEnd()], [
          "small",
          content.toLowerCase(),
        ]]
      ) {
        const list = await openBreachedPasswords(write(`${count}`, text!));
        for (const each of passwords) assert.ok(await list.isBreached(each), `${form}: ${each}`);
        for (let i = 0; i < 200; i++) assert.not(await list.isBreached(`other-${i}`), form);
        await list.close();
      }
    }
  });
}

test("a digest outside of the list, before its first and after its last, is not found", async () => {
  const passwords = Array.from({ length: 300 }, (_, i) => `password-${i}`);
  const digests = passwords.map(digestOf).sort();
  const list = await openBreachedPasswords(write("ends", digests.slice(1, -1).join("\n")));
  for (const each of passwords) {
    const expected = ![digests[0], digests.at(-1)].includes(digestOf(each));
    assert.is(await list.isBreached(each), expected);
  }
  await list.close();
});

test("a list of plain passwords is searched in any order, and exactly", async () => {
  const list = await openBreachedPasswords(write("plain", "123456\r\npassword\nqwerty\n密码\n"));
  for (const each of ["123456", "password", "qwerty", "密码"]) assert.ok(await list.isBreached(each), each);
  for (const each of ["12345", "Password", "qwerty "]) assert.not(await list.isBreached(each), each);
  await list.close();
});

test("a list that cannot be searched is refused when it is opened", async () => {
  const passwords = Array.from({ length: 500 }, (_, i) => `password-${i}`);
  const unsorted = passwords.map((each) => `${digestOf(each)}:1`).join("\n");
  for (
    const [path, reason] of [
      [join(folder, "missing"), /no such file/],
      [folder, /^Cannot read the breached passwords in /],
      [write("empty", ""), /empty/],
      [write("unsorted", unsorted), /ascending order/],
      [write("damaged", linesOf(passwords).slice(0, 9000) + "x".repeat(60_000)), /ascending order/],
      [write("large", "word\n".repeat(MAX_PLAIN_BYTES / 5 + 1)), /plain passwords/],
    ] as const
  ) {
    const error = await openBreachedPasswords(path).catch((error) => error);
    assert.match(error.message, reason, path);
  }
});

test.run();
