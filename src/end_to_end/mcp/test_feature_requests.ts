/**
 * Definitions of the feature server whose tools, prompt and resource send requests to the client: forms, URLs, sampling,
 * roots. Only tests import this.
 *
 * @module
 */
import * as v from "valibot";
import type { Definition } from "../../mcp/definition/definition.ts";
import { prompt, resource, tool } from "../../mod.ts";

const text = (content: string) => ({ type: "text", text: content }) as const;

/** New definitions; `interview` counts its calls. */
export function requestingDefinitions(): Definition[] {
  let visits = 0;
  return [
    tool({
      name: "ask_form",
      description: "Elicits a form",
      async run(_, context) {
        const answer = await context.elicit({
          message: "Who are you?",
          schema: v.object({
            name: v.pipe(v.string(), v.minLength(1)),
            colour: v.optional(v.picklist(["red", "green"]), "green"),
            amount: v.optional(v.pipe(v.number(), v.integer()), 3),
            sure: v.optional(v.boolean(), true),
          }),
        });
        return JSON.stringify(answer);
      },
    }),
    tool({
      name: "ask_url",
      description: "Elicits a URL",
      async run(_, context) {
        const answer = await context.elicit({
          mode: "url",
          message: "Sign in there",
          url: "https://example.com/sign-in?x=1",
          elicitationId: "sign-in",
        });
        await context.elicitationCompleted("sign-in");
        return answer.action;
      },
    }),
    tool({
      name: "ask_model",
      description: "Samples text",
      async run(_, context) {
        const { role, content, model, stopReason } = await context.sample({
          messages: [{ role: "user", content: text("Say something") }],
          maxTokens: 10,
          systemPrompt: "Be brief",
          temperature: 0,
        });
        return JSON.stringify([role, content.text, model, stopReason]);
      },
    }),
    tool({
      name: "ask_tools",
      description: "Samples with a tool",
      async run(_, context) {
        const question = { role: "user", content: text("What is the weather in Oslo?") } as const;
        const inputSchema = { type: "object", properties: { city: { type: "string" } } };
        const tools = [{ name: "weather", description: "Returns the weather", inputSchema }];
        const sampled = await context.sample({
          messages: [question],
          maxTokens: 10,
          tools,
          toolChoice: { mode: "required" },
        });
        const [{ id, input }] = sampled.content;
        const result = { type: "tool_result", toolUseId: id, content: [text(`grey in ${input.city}`)] };
        const { content } = await context.sample({
          messages: [question, { role: "assistant", content: sampled.content }, {
            role: "user",
            content: [result],
          }],
          maxTokens: 10,
          tools,
        });
        return JSON.stringify([sampled.stopReason, Array.isArray(content) ? content[0].text : content.text]);
      },
    }),
    tool({
      name: "ask_roots",
      description: "Lists the roots",
      run: async (_, context) => JSON.stringify(await context.listRoots()),
    }),
    tool({
      name: "interview",
      description: "Sends four requests and counts its calls with once()",
      input: v.object({ topic: v.string() }),
      async run({ topic }, context) {
        const visit = await context.once("visit", () => ++visits);
        const first = await context.elicit({
          message: `First about ${topic}`,
          schema: v.object({ name: v.string() }),
        });
        if (first.action !== "accept") return `${first.action} at first`;
        const [root] = await context.listRoots();
        const { content } = await context.sample({
          messages: [{ role: "user", content: text(`Greet ${first.content.name}`) }],
          maxTokens: 10,
        });
        const last = await context.elicit({ message: "Done?", schema: v.object({ done: v.boolean() }) });
        return JSON.stringify([topic, visit, first.content.name, root?.name, content.text, last.action]);
      },
    }),
    prompt({
      name: "personal",
      description: "Elicits a name",
      async get(_, context) {
        const answer = await context.elicit({
          message: "Your name?",
          schema: v.object({ name: v.string() }),
        });
        return answer.action === "accept" ? `I am ${answer.content.name}` : "I have no name";
      },
    }),
    resource({
      uri: "tour://private",
      name: "private",
      async read(context) {
        const answer = await context.elicit({ message: "May I?", schema: v.object({ yes: v.boolean() }) });
        return answer.action === "accept" ? "private text" : "refused";
      },
    }),
  ];
}
