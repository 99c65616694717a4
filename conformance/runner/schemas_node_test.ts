/**
 * The schemas of the kit: each member has a description, and each reference leads to a schema beside it, so that a
 * validator needs no network.
 *
 * @module
 */
import { globSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { isJsonObject } from "./vector/vector_file.ts";
import { resolvePointer } from "./vector/view.ts";

const test = suite("schemas");
const ROOT = fileURLToPath(new URL("..", import.meta.url));
const paths = globSync(join(ROOT, "*.schema.json"));

/** Every value of a schema, with its place. */
function* walk(value: unknown, place = ""): Generator<readonly [place: string, value: unknown]> {
  yield [place, value];
  if (typeof value !== "object" || value === null) return;
  for (const [name, each] of Object.entries(value)) yield* walk(each, `${place}/${name}`);
}

test("there are schemas", () => assert.ok(paths.length >= 4));

for (const path of paths) {
  const schema: unknown = JSON.parse(readFileSync(path, "utf8"));

  test(`${basename(path)}: each member has a description`, () => {
    const bare = [...walk(schema)].filter(([place]) => place.endsWith("/properties"))
      .flatMap(([place, members]) =>
        Object.entries(isJsonObject(members) ? members : {})
          .filter(([name, member]) =>
            !["$schema", "$id"].includes(name) && (!isJsonObject(member) || !member["description"])
          ).map(([name]) => `${place}/${name}`)
      );
    assert.equal(bare, []);
  });

  test(`${basename(path)}: its id is its file name, and its references lead to files beside it`, () => {
    assert.is((schema as { $id: string }).$id, basename(path));
    for (const [place, reference] of walk(schema)) {
      if (!place.endsWith("/$ref")) continue;
      const [file = "", pointer = ""] = String(reference).split("#");
      const other = file === "" ? schema : JSON.parse(readFileSync(join(dirname(path), file), "utf8"));
      assert.ok(resolvePointer(pointer, other) !== undefined, `${place}: ${reference}`);
    }
  });
}

test.run();
