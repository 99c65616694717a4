import { suite } from "uvu";
import * as assert from "uvu/assert";
import { readCookie, writeCookie } from "./cookie.ts";

const test = suite("http/cookie");
const read = (cookie: string): string | undefined =>
  readCookie(new Request("http://h/", { headers: { cookie } }), "session_id");

test("readCookie() finds a cookie by its exact name", () => {
  assert.is(read("session_id=abc"), "abc");
  assert.is(read("x=1; session_id=abc; y=2"), "abc");
  assert.is(read('session_id="abc"'), "abc");
  for (const other of ["", "xsession_id=abc", "session_idx=abc", "SESSION_ID=abc", "session_id", "; ;"]) {
    assert.is(read(other), undefined, other);
  }
});

test("readCookie() ignores two cookies of one name with different values", () => {
  assert.is(read("session_id=mine; session_id=planted"), undefined);
  assert.is(read("session_id=same; session_id=same"), "same");
});

test("writeCookie() sets HttpOnly and SameSite=Lax", () => {
  assert.is(
    writeCookie("a", "b", { maxAge: 60, secure: true }),
    "a=b; Path=/; HttpOnly; SameSite=Lax; Max-Age=60; Secure",
  );
  assert.is(
    writeCookie("a", "", { maxAge: 0, secure: false }),
    "a=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0",
  );
});

test.run();
