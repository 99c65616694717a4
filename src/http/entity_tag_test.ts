import { suite } from "uvu";
import * as assert from "uvu/assert";
import { isUnchanged } from "./entity_tag.ts";

const test = suite("http/entity_tag");
const matches = (field?: string): boolean =>
  isUnchanged(
    new Request("http://h/", field === undefined ? {} : { headers: { "if-none-match": field } }),
    '"a,1"',
  );

test("If-None-Match matches the tag alone, in a list, as a weak tag, and as an asterisk", () => {
  for (const field of ['"a,1"', 'W/"a,1"', '"b", "a,1"', '"b",W/"a,1" ,"c"', "*", " * "]) {
    assert.ok(matches(field), field);
  }
});

test("another tag and a malformed field do not match", () => {
  for (const field of [undefined, "", '"b"', "a,1", '"a,1', '"a", "1"', '"A,1"', '"*"', '"a,1 "']) {
    assert.not(matches(field), String(field));
  }
});

test("a weak tag of the response matches a strong tag of If-None-Match", () => {
  const request = new Request("http://h/", { headers: { "if-none-match": '"x"' } });
  assert.ok(isUnchanged(request, 'W/"x"'));
});

test.run();
