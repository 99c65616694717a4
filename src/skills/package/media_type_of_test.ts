import { suite } from "uvu";
import * as assert from "uvu/assert";
import { mediaTypeOf } from "./media_type_of.ts";

const test = suite("skills/media_type_of");
const text = new TextEncoder().encode("text");
const binary = Uint8Array.of(1, 0, 2);

test("the name tells, in any case", () => {
  assert.is(mediaTypeOf("SKILL.md", text), "text/markdown");
  assert.is(mediaTypeOf("a/b.JSON", text), "application/json");
  assert.is(mediaTypeOf("a.png", binary), "image/png");
});

test("what a browser would run is plain text", () => {
  for (const path of ["a.html", "a.htm", "a.svg", "a.js", "a.xhtml", "a.xml"]) {
    assert.is(mediaTypeOf(path, text), "text/plain", path);
  }
});

test("without a telling name, the bytes tell text from what is none", () => {
  for (const path of ["LICENSE", "run.sh", ".keep", "a.b/c", "x.constructor", "x.__proto__"]) {
    assert.is(mediaTypeOf(path, text), "text/plain", path);
    assert.is(mediaTypeOf(path, binary), "application/octet-stream", path);
  }
});

test.run();
