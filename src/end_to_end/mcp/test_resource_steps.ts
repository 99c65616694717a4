/**
 * Steps: resources, prompts, completion, skills. Only tests import this.
 *
 * @module
 */
import * as assert from "uvu/assert";
import type { Loose } from "./test_feature_client.ts";
import { PNG } from "./test_feature_definitions.ts";
import { codeOf, type Step, textOf } from "./test_feature_step.ts";

export const RESOURCE_STEPS: readonly Step[] = [
  {
    name: "resources and templates are listed and read; an unknown resource is an error",
    async run(client) {
      const { all, pages } = await client.list("resources");
      assert.equal(all.map((each) => each.uri), [
        "tour://private",
        "tour://notes/today",
        "tour://notes/tomorrow",
        "tour://logo",
        "skill://commit-messages/SKILL.md",
        "skill://meeting-notes/SKILL.md",
        "tour://people/ada/about.md",
        "tour://people/alan/about.md",
        "tour://people/grace/about.md",
      ]);
      if (pages !== undefined) assert.is(pages, 5);
      assert.is(all[1].title, "Today's notes");
      assert.equal(all[1].annotations, { audience: ["user"], priority: 0.5 });
      const templates = (await client.list("resourceTemplates")).all.map((each) => each.uriTemplate);
      assert.equal(templates, ["skill://{name}/{+path}", "tour://people/{name}/{+path}"]);
      assert.equal((await client.read("tour://notes/today")).contents, [{
        uri: "tour://notes/today",
        mimeType: "text/plain",
        text: "Buy milk",
      }]);
      assert.equal((await client.read("tour://logo")).contents, [{
        uri: "tour://logo",
        mimeType: "image/png",
        blob: PNG,
      }]);
      const paper = (await client.read("tour://people/ada/papers/notes.md")).contents[0];
      assert.is(paper.text, "# ada: papers/notes.md");
      assert.is(paper.mimeType, "text/markdown");
      // Client 2.x reports -32602 for either code.
      const code = client.generation === 2 ? -32602 : -32002;
      assert.is(await codeOf(client.read("tour://people/unknown/x")), code);
      assert.is(await codeOf(client.read("tour://missing")), code);
    },
  },
  {
    name: "prompts are listed and returned with arguments and embedded content",
    async run(client) {
      const { all } = await client.list("prompts");
      assert.equal(all.map((each) => each.name), ["use_skill", "personal", "hello", "review", "with_file"]);
      const review = all.find((each) => each.name === "review");
      assert.equal(review.arguments[0], { name: "code", required: true, description: "What to look at" });
      assert.is((await client.prompt("hello")).messages[0].content.text, "Hello");
      const { messages, description } = await client.prompt("review", { code: "1 + 1", language: "python" });
      assert.is(description, "Reviews code");
      assert.equal(messages.map(({ role, content }: Loose) => [role, content.text]), [
        ["user", "Review this python: 1 + 1"],
        ["assistant", "Gladly"],
      ]);
      const [file, image] = (await client.prompt("with_file")).messages;
      assert.is(file.content.resource.text, "Buy milk");
      assert.is(image.content.data, PNG);
      assert.is(await codeOf(client.prompt("review", {})), -32602);
      assert.is(await codeOf(client.prompt("missing")), -32602);
    },
  },
  {
    name: "completion answers for arguments of prompts and variables of templates",
    async run(client) {
      const language = { name: "language", value: "ty" };
      const ref = { type: "ref/prompt", name: "review" };
      assert.equal((await client.complete({ ref, argument: language })).completion.values, [
        "typescript",
        "typst",
      ]);
      const context = { arguments: { code: "typst" } };
      const { completion } = await client.complete({ ref, argument: language, context });
      assert.equal({ ...completion }, { values: ["typescript"], total: 1, hasMore: false });
      const people = { type: "ref/resource", uri: "tour://people/{name}/{+path}" };
      const named = await client.complete({ ref: people, argument: { name: "name", value: "a" } });
      assert.equal(named.completion.values, ["ada", "alan"]);
      assert.is(
        await codeOf(client.complete({ ref: people, argument: { name: "unknown", value: "" } })),
        -32602,
      );
    },
  },
  {
    name: "skills are listed, loaded and read",
    async run(client) {
      assert.match(textOf(await client.call("list_skills")), "- meeting-notes: Turns a meeting transcript");
      assert.match(
        textOf(await client.call("load_skill", { name: "meeting-notes" })),
        "references/template.md",
      );
      const path = "references/template.md";
      assert.match(
        textOf(await client.call("read_skill_file", { name: "meeting-notes", path })),
        "## Decisions",
      );
      assert.is((await client.call("load_skill", { name: "missing" })).isError, true);
      const file = (await client.read("skill://meeting-notes/SKILL.md")).contents[0];
      assert.is(file.mimeType, "text/markdown");
      const prompt = await client.prompt("use_skill", { skill: "commit-messages", task: "Say why" });
      assert.match(prompt.messages[0].content.text, "Say why");
    },
  },
];
