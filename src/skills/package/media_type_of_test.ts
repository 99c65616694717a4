import { suite } from "uvu";
import * as assert from "uvu/assert";
import { mediaTypeOf } from "./media_type_of.ts";

const test = suite("skills/package/media_type_of");
const text = new TextEncoder().encode("text");
const binary = Uint8Array.of(1, 0, 2);

test("the extension determines the media type, in any case", () => {
  assert.is(mediaTypeOf("SKILL.md", text), "text/markdown");
  assert.is(mediaTypeOf("a/b.JSON", text), "application/json");
  assert.is(mediaTypeOf("a.png", binary), "image/png");
});

test("types that a browser would run become text/plain", () => {
  for (const path of ["a.html", "a.htm", "a.svg", "a.js", "a.xhtml", "a.xml"]) {
    assert.is(mediaTypeOf(path, text), "text/plain", path);
  }
});

test("without a known extension the bytes distinguish text from binary", () => {
  for (const path of ["LICENSE", "run.sh", ".keep", "a.b/c", "x.constructor", "x.__proto__"]) {
    assert.is(mediaTypeOf(path, text), "text/plain", path);
    assert.is(mediaTypeOf(path, binary), "application/octet-stream", path);
  }
});

test.run();
