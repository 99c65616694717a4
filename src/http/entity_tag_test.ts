import { suite } from "uvu";
import * as assert from "uvu/assert";
import { isUnchanged } from "./entity_tag.ts";

const test = suite("http/entity_tag");
const ask = (field?: string): boolean =>
  isUnchanged(
    new Request("http://h/", field === undefined ? {} : { headers: { "if-none-match": field } }),
    '"a,1"',
  );

test("a tag is found alone, in a list, as a weak one, and by the asterisk", () => {
  for (const field of ['"a,1"', 'W/"a,1"', '"b", "a,1"', '"b",W/"a,1" ,"c"', "*", " * "]) {
    assert.ok(ask(field), field);
  }
});

test("what is no such tag asks for the content", () => {
  for (const field of [undefined, "", '"b"', "a,1", '"a,1', '"a", "1"', '"A,1"', '"*"', '"a,1 "']) {
    assert.not(ask(field), String(field));
  }
});

test("a weak tag of ours meets a strong one of theirs", () => {
  const request = new Request("http://h/", { headers: { "if-none-match": '"x"' } });
  assert.ok(isUnchanged(request, 'W/"x"'));
});

test.run();
