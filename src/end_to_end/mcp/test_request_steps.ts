/**
 * Steps: requests of the server to the client, with the same code for every revision. Only tests import this.
 *
 * @module
 */
import * as assert from "uvu/assert";
import type { Loose } from "./test_feature_client.ts";
import { codeOf, type Step, textOf } from "./test_feature_step.ts";

export const REQUEST_STEPS: readonly Step[] = [
  {
    name: "a form is accepted with defaults, declined or cancelled; invalid content is error -32602",
    async run(client) {
      const { answers } = client;
      let received: Loose;
      answers.elicit = (params) => {
        received = params;
        return { action: "accept", content: { name: "Ada" } };
      };
      const accepted = JSON.parse(textOf(await client.call("ask_form")));
      assert.equal(accepted, {
        action: "accept",
        content: { name: "Ada", colour: "green", amount: 3, sure: true },
      });
      assert.is(received.message, "Who are you?");
      const { type, properties, required } = received.requestedSchema;
      assert.is(type, "object");
      assert.equal(required, ["name"]);
      assert.is(properties.colour.default, "green");
      assert.is(properties.amount.type, "integer");
      answers.elicit = () => ({
        action: "accept",
        content: { name: "Ada", colour: "red", amount: 4, sure: false },
      });
      assert.equal(JSON.parse(textOf(await client.call("ask_form"))).content, {
        name: "Ada",
        colour: "red",
        amount: 4,
        sure: false,
      });
      for (const action of ["decline", "cancel"]) {
        answers.elicit = () => ({ action });
        assert.equal(JSON.parse(textOf(await client.call("ask_form"))), { action });
      }
      answers.elicit = () => ({ action: "accept", content: { name: "Ada", amount: 1.5 } });
      assert.is(await codeOf(client.call("ask_form")), -32602);
    },
  },
  {
    name: "a URL is elicited, and its completion notified",
    async run(client) {
      let received: Loose;
      client.answers.elicit = (params) => {
        received = params;
        return { action: "accept" };
      };
      assert.is(textOf(await client.call("ask_url")), "accept");
      assert.is(received.mode, "url");
      assert.is(received.url, "https://example.com/sign-in?x=1");
      assert.is(received.elicitationId, client.era === "legacy" ? "sign-in" : undefined);
      if (client.era === "legacy") {
        const done = await client.notifications.next("notifications/elicitation/complete");
        assert.is(done.elicitationId, "sign-in");
      }
    },
  },
  {
    name: "sampling and roots return the results of the client",
    async run(client) {
      let received: Loose;
      client.answers.sample = (params) => {
        received = params;
        return {
          role: "assistant",
          content: { type: "text", text: "Something" },
          model: "parrot",
          stopReason: "endTurn",
        };
      };
      assert.equal(JSON.parse(textOf(await client.call("ask_model"))), [
        "assistant",
        "Something",
        "parrot",
        "endTurn",
      ]);
      assert.is(received.systemPrompt, "Be brief");
      assert.is(received.maxTokens, 10);
      assert.is(received.messages[0].content.text, "Say something");
      assert.equal(JSON.parse(textOf(await client.call("ask_roots"))), [{
        uri: "file:///home/tourist",
        name: "home",
      }]);
      const moved = [{ uri: "file:///away", name: "away" }, { uri: "file:///b", name: "b" }];
      client.answers.roots = () => ({ roots: moved });
      if (client.era === "legacy") await client.rootsChanged();
      assert.equal(JSON.parse(textOf(await client.call("ask_roots"))), moved);
    },
  },
  {
    name: "sampling with tools returns the tool use and takes its result",
    async run(client) {
      client.answers.sample = ({ messages, tools, toolChoice }) => {
        assert.equal(tools.map((each: Loose) => each.name), ["weather"]);
        const answer = { role: "assistant", model: "parrot" };
        if (messages.length === 1) {
          assert.equal(toolChoice, { mode: "required" });
          const use = { type: "tool_use", id: "t1", name: "weather", input: { city: "Oslo" } };
          return { ...answer, content: [use], stopReason: "toolUse" };
        }
        const [{ toolUseId, content }] = messages[2].content;
        assert.is(toolUseId, "t1");
        return {
          ...answer,
          content: { type: "text", text: `It is ${content[0].text}` },
          stopReason: "endTurn",
        };
      };
      assert.equal(JSON.parse(textOf(await client.call("ask_tools"))), ["toolUse", "It is grey in Oslo"]);
    },
  },
  {
    name: "one call sends four requests; once() runs its function once per call",
    async run(client) {
      const messages: string[] = [];
      client.answers.elicit = ({ message }) => {
        messages.push(message);
        return { action: "accept", content: message === "Done?" ? { done: true } : { name: "Grace" } };
      };
      client.answers.sample = ({ messages: [{ content }] }) => ({
        role: "assistant",
        content: { type: "text", text: `Echo: ${(Array.isArray(content) ? content[0] : content).text}` },
        model: "parrot",
      });
      const answer = JSON.parse(textOf(await client.call("interview", { topic: "ships" })));
      assert.equal(answer, ["ships", 1, "Grace", "away", "Echo: Greet Grace", "accept"]);
      assert.equal(messages, ["First about ships", "Done?"]);
      assert.is(JSON.parse(textOf(await client.call("interview", { topic: "boats" })))[1], 2);
    },
  },
  {
    name: "an error of the client reaches the caller of the tool",
    async run(client) {
      client.answers.sample = () => {
        throw new Error("no model today");
      };
      const refused = await client.call("ask_model").catch((error) => error);
      assert.match(String(refused.message ?? textOf(refused)), "no model today");
    },
  },
  {
    name: "prompts and resources elicit",
    async run(client) {
      client.answers.elicit = ({ message }) => ({
        action: "accept",
        content: message === "May I?" ? { yes: true } : { name: "Alan" },
      });
      assert.is((await client.prompt("personal")).messages[0].content.text, "I am Alan");
      assert.is((await client.read("tour://private")).contents[0].text, "private text");
    },
  },
];
