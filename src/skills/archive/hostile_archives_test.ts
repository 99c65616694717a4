import { suite } from "uvu";
import * as assert from "uvu/assert";
import { HOSTILE_ARCHIVES } from "../../../fixtures/hostile/archives.ts";
import { ORDINARY_ARCHIVES } from "../../../fixtures/hostile/ordinary_archives.ts";
import { newService } from "../test_service.ts";

const test = suite("skills: hostile and ordinary archives");

for (const { what, rule, status = 400, make } of HOSTILE_ARCHIVES) {
  test(`an archive with ${what} is refused and not stored`, async () => {
    const { upload, store, events } = await newService();
    const response = await upload([["demo.zip", await make()]]);
    const { type, error } = await response.json();
    assert.is(response.status, status, JSON.stringify(error));
    assert.is(type, "error");
    assert.is(error.type, status === 413 ? "request_too_large" : "invalid_request_error");
    assert.is(error.details.error_code, rule, error.message);
    assert.is(error.details.problems[0].code, rule);
    assert.equal(
      await store.list([]).then((entries) => entries.filter(({ key }) => key[0] !== "api_key")),
      [],
    );
    assert.equal(events, []);
  });
}

for (const { what, filename = "demo.zip", files, make } of ORDINARY_ARCHIVES) {
  test(`an archive of ${what} is accepted`, async () => {
    const { upload, service, events } = await newService();
    const response = await upload([[filename, await make()]]);
    const text = await response.text();
    assert.is(response.status, 200, text);
    const reader = { workspace: "default", scopes: new Set(["skills:read"]) };
    const loaded = await service.catalog.load(reader, JSON.parse(text).id);
    assert.equal(loaded?.files, ["SKILL.md", ...files].sort());
    assert.is(loaded?.instructions, "Text\n");
    assert.equal(events.filter(({ type }) => type === "fault"), []);
  });
}

test.run();
