/**
 * Steps: the server's information and its tools. Only tests import this.
 *
 * @module
 */
import * as assert from "uvu/assert";
import type { Loose } from "./test_feature_client.ts";
import { withTimeout } from "./test_notification_log.ts";
import { PNG, WAV } from "./test_feature_definitions.ts";
import { callUntil, codeOf, type Step, textOf, TOOLS } from "./test_feature_step.ts";

export const TOOL_STEPS: readonly Step[] = [
  {
    name: "the client receives server information, instructions and capabilities",
    async run({ info: { server, capabilities, instructions }, era }) {
      assert.is(server.name, "tour");
      assert.is(server.version, "1.2.3");
      assert.is(server.title, "The tour");
      assert.is(server.description, "Has every feature");
      assert.is(server.websiteUrl, "https://example.com/tour");
      assert.is(server.icons.length, 1);
      assert.is(instructions, "Look at everything.");
      assert.equal(capabilities.tools, { listChanged: true });
      assert.equal(capabilities.prompts, { listChanged: true });
      assert.equal(capabilities.resources, { subscribe: true, listChanged: true });
      assert.equal(capabilities.completions, {});
      assert.equal(capabilities.logging, {});
      assert.is("io.modelcontextprotocol/tasks" in (capabilities.extensions ?? {}), era === "modern");
    },
  },
  {
    name: "ping is answered in the legacy era; the modern era has no ping",
    async run(client) {
      if (client.era === "legacy") await client.ping();
      else assert.is(await codeOf(client.ping()), "METHOD_NOT_SUPPORTED_BY_PROTOCOL_VERSION");
    },
  },
  {
    name: "tools/list returns all tools page by page",
    async run(client) {
      const { all, pages } = await client.list("tools");
      assert.equal(all.map((each) => each.name), TOOLS);
      if (pages !== undefined) assert.is(pages, Math.ceil(TOOLS.length / 2));
      const weather = all.find((each) => each.name === "weather");
      assert.equal(weather.inputSchema.required, ["city"]);
      assert.equal(weather.outputSchema.properties.sky.enum, ["clear", "grey"]);
      assert.equal(weather.annotations, { readOnlyHint: true });
      assert.is(all.find((each) => each.name === "text").title, "Text");
    },
  },
  {
    name: "tools return every content type",
    async run(client) {
      assert.equal((await client.call("text")).content, [{ type: "text", text: "plain words, ünïcödé ✓" }]);
      const media = async (name: string) => (await client.call(name)).content[0];
      assert.equal({ ...await media("image") }, { type: "image", data: PNG, mimeType: "image/png" });
      assert.equal({ ...await media("audio") }, { type: "audio", data: WAV, mimeType: "audio/wav" });
      assert.equal((await media("embedded")).resource, {
        uri: "tour://notes/today",
        mimeType: "text/plain",
        text: "Buy milk",
      });
      const [, link] = (await client.call("link")).content;
      assert.is(link.type, "resource_link");
      assert.is(link.uri, "tour://logo");
    },
  },
  {
    name: "structured content is also JSON text, and the client validates it",
    async run(client) {
      const { structuredContent, content } = await client.call("weather", { city: "Oslo" });
      assert.equal(structuredContent, { city: "Oslo", degrees: 21.5, sky: "clear" });
      assert.equal(JSON.parse(content[0].text), structuredContent);
    },
  },
  {
    name: "a ToolError and invalid arguments are results with isError; an unknown tool is error -32602",
    async run(client) {
      const refused = await client.call("refuse");
      assert.is(refused.isError, true);
      assert.is(textOf(refused), "Ask for less");
      const invalid = await client.call("weather", { city: 7 });
      assert.is(invalid.isError, true);
      assert.match(textOf(invalid), "city");
      assert.is((await client.call("weather", { city: "O" })).isError, true);
      assert.is(await codeOf(client.call("missing")), -32602);
    },
  },
  {
    name: "an argument with x-mcp-header is sent in a header field too",
    async run(client) {
      assert.is(textOf(await client.call("route", { region: "Zürich, west " })), "to Zürich, west ");
      const sent = client.wire.callOf("route")?.headers.get("mcp-param-region");
      if (client.era === "modern" && client.wire.exchanges.length > 0) {
        assert.match(sent ?? "", /^=\?base64\?/);
      }
    },
  },
  {
    name: "progress reaches the client in order",
    async run(client) {
      const steps: unknown[] = [];
      const counted = await callUntil(client, "count", (step) => steps.push({ ...step }) === 3);
      assert.is(counted, "counted");
      assert.equal(steps, [1, 2, 3].map((progress) => ({ progress, total: 3, message: `step ${progress}` })));
    },
  },
  {
    name: "log messages have the requested level or a higher one",
    async run(client) {
      const { notifications, era } = client;
      const logged = async (meta?: Loose): Promise<string[]> => {
        await client.call("chatter", {}, {}, meta);
        return notifications.take("notifications/message").map(({ level, data, logger }) => {
          assert.is(logger, "tour");
          assert.is(data.said, level);
          return level;
        });
      };
      if (era === "modern") {
        const level = (level: string) => ({ "io.modelcontextprotocol/logLevel": level });
        assert.equal(await logged(), []);
        assert.equal(await logged(level("warning")), ["warning", "error"]);
        assert.equal(await logged(level("debug")), ["debug", "info", "warning", "error"]);
        return;
      }
      await client.setLevel("warning");
      assert.equal(await logged(), ["warning", "error"]);
      await client.setLevel("debug");
      assert.equal(await logged(), ["debug", "info", "warning", "error"]);
      await client.setLevel("error");
      assert.equal(await logged(), ["error"]);
    },
  },
  {
    name: "a cancelled call aborts the signal of the tool",
    async run(client) {
      const controller = new AbortController();
      const began = Promise.withResolvers<void>();
      const call = client.call("hang", { key: "tour" }, {
        signal: controller.signal,
        onprogress: () => began.resolve(),
      }).then(() => "answered", () => "aborted");
      await withTimeout(began.promise, "progress of the call");
      controller.abort();
      assert.is(await call, "aborted");
      assert.is(textOf(await client.call("aborted", { key: "tour" })), "AbortError");
    },
  },
  {
    name: "concurrent calls get their own results",
    async run(client) {
      const waiting = ["a", "b", "c"].map((key) => client.call("wait", { key }));
      for (const key of ["c", "a", "b"]) await client.call("release", { key });
      assert.equal((await Promise.all(waiting)).map(textOf), ["released a", "released b", "released c"]);
    },
  },
  {
    name: "a call whose connection the server closes gets its result",
    async run(client) {
      const steps: unknown[] = [];
      const result = await callUntil(client, "hang_up", ({ progress }) => steps.push(progress) === 2);
      assert.is(result, "resumed");
      assert.equal(steps, [1, 2]);
    },
  },
  {
    name: "a client without tasks calls tools that can run as tasks",
    async run(client) {
      client.answers.elicit = () => ({ action: "accept", content: { sweet: true } });
      assert.is(textOf(await client.call("bake", { what: "cake" })), "cake: sweet");
      if (client.era === "modern") {
        assert.is(await codeOf(client.call("long_bake", { key: "tour" })), -32021);
        return;
      }
      const baking = client.call("long_bake", { key: "tour" });
      await client.call("release", { key: "tour" });
      assert.is(textOf(await baking), "baked");
    },
  },
];
