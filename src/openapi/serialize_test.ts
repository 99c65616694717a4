import { suite } from "uvu";
import * as assert from "uvu/assert";
import { writeHeader, writePath, writeQuery } from "./serialize.ts";

const test = suite("openapi/serialize");

const ARRAY = ["blue", "black"];
const OBJECT = { R: 100, G: 200 };
const style = (style: string, explode: boolean, allowReserved = false) => ({ style, explode, allowReserved });
const path = (name: string, explode: boolean, value: unknown) =>
  writePath("color", value, style(name, explode));
const query = (name: string, explode: boolean, value: unknown, reserved = false) =>
  writeQuery("color", value, style(name, explode, reserved)).join("&");

// The table of https://spec.openapis.org/oas/v3.1.1#style-examples.
test("path parameters: simple, label and matrix", () => {
  for (
    const [name, explode, text, list, object] of [
      ["simple", false, "blue", "blue,black", "R,100,G,200"],
      ["simple", true, "blue", "blue,black", "R=100,G=200"],
      ["label", false, ".blue", ".blue,black", ".R,100,G,200"],
      ["label", true, ".blue", ".blue.black", ".R=100.G=200"],
      ["matrix", false, ";color=blue", ";color=blue,black", ";color=R,100,G,200"],
      ["matrix", true, ";color=blue", ";color=blue;color=black", ";R=100;G=200"],
    ] as const
  ) {
    assert.is(path(name, explode, "blue"), text);
    assert.is(path(name, explode, ARRAY), list);
    assert.is(path(name, explode, OBJECT), object);
  }
});

test("query parameters: form, spaceDelimited, pipeDelimited and deepObject", () => {
  assert.is(query("form", true, "blue"), "color=blue");
  assert.is(query("form", true, ""), "color=");
  assert.is(query("form", true, ARRAY), "color=blue&color=black");
  assert.is(query("form", false, ARRAY), "color=blue,black");
  assert.is(query("form", true, OBJECT), "R=100&G=200");
  assert.is(query("form", false, OBJECT), "color=R,100,G,200");
  assert.is(query("form", true, []), "");
  assert.is(query("spaceDelimited", false, ARRAY), "color=blue%20black");
  assert.is(query("pipeDelimited", false, ARRAY), "color=blue%7Cblack");
  assert.is(query("spaceDelimited", true, ARRAY), "color=blue&color=black");
  assert.is(query("pipeDelimited", false, OBJECT), "color=R%7C100%7CG%7C200");
  assert.is(query("deepObject", true, OBJECT), "color[R]=100&color[G]=200");
  assert.is(query("deepObject", true, { a: { b: ["x", "y"] } }), "color[a][b][0]=x&color[a][b][1]=y");
  assert.is(query("form", true, [{ a: 1 }, null, true]), "color=%7B%22a%22%3A1%7D&color=null&color=true");
});

test("no value of a query begins another pair", () => {
  const evil = "a&admin=1#x=%26+;\r\n";
  for (
    const [name, value] of [
      ["form", evil],
      ["form", [evil]],
      ["form", { [evil]: evil }],
      ["deepObject", { [evil]: { [evil]: evil } }],
      ["pipeDelimited", [evil]],
    ] as const
  ) {
    for (const explode of [true, false]) {
      for (const reserved of [true, false]) {
        const text = query(name, explode, value, reserved);
        assert.is(new URLSearchParams(text).size, 1, text);
        assert.not.match(text, /[#+\s]|admin=1/);
      }
    }
  }
});

test("allowReserved leaves what cannot end a value", () => {
  assert.is(query("form", true, "a/b:c,d&e=f", true), "color=a/b:c,d%26e%3Df");
  assert.is(query("form", true, "a/b", false), "color=a%2Fb");
});

test("header fields are not percent-encoded", () => {
  assert.is(writeHeader(["a", 1], false), "a,1");
  assert.is(writeHeader(OBJECT, true), "R=100,G=200");
  assert.is(writeHeader(OBJECT, false), "R,100,G,200");
});

test("a lone surrogate becomes a replacement character", () => {
  assert.is(query("form", true, "\ud800"), "color=%EF%BF%BD");
});

test.run();
