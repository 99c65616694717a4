import { suite } from "uvu";
import * as assert from "uvu/assert";
import { withoutFileNames } from "./file_names.ts";
import { fuseRankings } from "./rank.ts";
import { createSearchIndex } from "./search_index.ts";
import { toFields, toLine } from "./tool_fields.ts";
import { toStem, toTerms } from "./words.ts";

const test = suite("gateway/search_index");

test("names are split at case, digits and separators; endings do not matter", () => {
  assert.equal(toTerms("readHTTPFile_v2.list-all"), ["read", "http", "fil", "v2", "list"]);
  assert.equal(toTerms("The files of the repositories"), ["fil", "repository"]);
  for (
    const [a, b] of [
      ["files", "file"],
      ["merging", "merge"],
      ["created", "create"],
      ["running", "run"],
      ["calls", "calling"],
      ["navigation", "navigate"],
      ["searches", "search"],
      ["entities", "entity"],
      ["kept", "keeping"],
      ["written", "writes"],
      ["people", "persons"],
      ["colours", "color"],
    ] as const
  ) assert.is(toStem(a), toStem(b));
  // Names that only look like it.
  for (const word of ["status", "class", "notion", "this", "bing", "hour", "tour"]) {
    assert.is(toStem(word), word);
  }
});

test("texts without spaces are compared by pairs of characters", () => {
  assert.equal(toTerms("天気予報"), ["天気", "気予", "予報"]);
  assert.equal(toTerms("Größe ändern"), ["größe", "ändern"]);
});

test("file names and addresses in a query count as what they are", () => {
  const termsOf = (query: string) => toTerms(withoutFileNames(query));
  assert.equal(termsOf("show notes.txt"), toTerms("show file"));
  assert.equal(termsOf("open ./a/b.PNG at https://example.com/issues"), toTerms("open image file at url"));
  assert.is(withoutFileNames("version 2.5 of it"), "version 2.5 of it");
});

const document = (name: string, description = "", inputSchema: unknown = {}) =>
  toFields({ name, description, inputSchema });

async function order(query: string, documents: ReturnType<typeof document>[], limit = 9): Promise<string[]> {
  const { search } = await createSearchIndex(documents);
  return search(query, limit, () => true).map(({ at }) => documents[at]!.name);
}

test("a name counts more than a description, and a description more than a parameter", async () => {
  const filler = document("filler", "about other matters");
  const parameter = document("c", "other", { type: "object", properties: { invoice: { type: "string" } } });
  const all = [parameter, document("b", "an invoice"), document("invoice", "other"), filler];
  assert.equal(await order("invoice", all), ["invoice", "b", "c"]);
  assert.equal(await order("invoice", all, 2), ["invoice", "b"]);
});

test("rare words count more, and two words of the query more than one twice", async () => {
  const all = [
    document("list_pages", "list list list"),
    document("list_x", "list of zebras"),
    document("list_y", "list"),
    document("list_z", "list"),
  ];
  assert.is((await order("list zebra", all))[0], "list_x");
});

test("parameters are found in nested objects, arrays, alternatives and enumerations", async () => {
  const deep = document("deep", "", {
    type: "object",
    properties: {
      a: { type: "array", items: { anyOf: [{ type: "object", properties: { zebra: {} } }] } },
      b: { enum: ["okapi", 1], description: "the giraffe" },
    },
  });
  for (const word of ["zebra", "okapi", "giraffe"]) {
    assert.equal(await order(word, [deep, document("other")]), ["deep"]);
  }
});

test("related words and beginnings of words are found, after the word itself", async () => {
  const all = [document("remove_file"), document("delete_file"), document("repository_list")];
  assert.equal(await order("delete", all), ["delete_file", "remove_file"]);
  assert.equal(await order("reposit", all), ["repository_list"]);
});

test("a document outside of the index gets the score that it would have inside", async () => {
  const all = [document("a", "draws charts"), document("b", "sends mail"), document("c", "reads files")];
  const index = await createSearchIndex(all);
  for (const [at, each] of all.entries()) {
    const [hit] = index.search("draw a chart, send mails, read file", 9, (other) => other === at);
    assert.ok(Math.abs(hit!.score - index.score("draw a chart, send mails, read file", each)) < 1e-5);
  }
});

test("names of properties of objects are words like others", async () => {
  assert.equal(await order("constructor __proto__", [document("constructor"), document("b", "__proto__")]), [
    "constructor",
    "b",
  ]);
});

test("hostile schemas and queries end", async () => {
  let schema: object = { type: "string" };
  for (let i = 0; i < 1000; i++) schema = { type: "object", properties: { a: schema } };
  const all = [document("deep", "x".repeat(1e6) + ". ".repeat(1e5), schema), document("no", "", null)];
  assert.equal(await order("deep " + "word ".repeat(1e5), all), ["deep"]);
  assert.equal(await order("", all), []);
  assert.equal(await createSearchIndex([]).then((index) => index.search("a b", 5, () => true)), []);
});

test("a line is the first sentence, within limits", () => {
  assert.is(toLine("Reads a file, e.g. text.\nMore here."), "Reads a file, e.g. text");
  assert.is(toLine("One\n  line"), "One line");
  assert.ok(toLine("word ".repeat(1000)).length <= 122);
});

test("fused rankings prefer what both have", () => {
  assert.equal(fuseRankings(["a", "b", "c"], ["c", "d"]), ["c", "a", "b", "d"]);
});

test.run();
