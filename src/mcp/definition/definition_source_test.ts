import { suite } from "uvu";
import * as assert from "uvu/assert";
import { newServer, request } from "../test_server.ts";
import { tool } from "./define.ts";
import type { Definition } from "./definition.ts";

const test = suite("mcp/definition_source");

const named = (name: string, text = name) => tool({ name, description: text, run: () => text });

/** A source whose definitions a test changes. */
function newSource(...definitions: Definition[]) {
  let onChange = (): void => {};
  const source = {
    definitions,
    current: () => source.definitions,
    watch(given: () => void): void {
      onChange = given;
    },
    ready: () => Promise.resolve(),
    change(...changed: Definition[]): void {
      source.definitions = changed;
      onChange();
    },
  };
  return source;
}

async function names(server: ReturnType<typeof newServer>): Promise<string[]> {
  const { body } = await server.post(request("tools/list"));
  return body.result.tools.map((each: { name: string; description: string }) => each.description);
}

test("tools of a source come after those of the server, which win where names are the same", async () => {
  const source = newSource(named("a", "of the source"), named("b"));
  const server = newServer({ definitions: [named("a")], sources: [source] });
  assert.equal(await names(server), ["a", "b"]);
});

test("a server with a source offers all lists from the start, since what comes later may be of any kind", async () => {
  const source = newSource();
  const server = newServer({ definitions: [], sources: [source] });
  for (const revision of ["2024-11-05", "2025-11-25"]) {
    const { body } = await server.post(
      request("initialize", {
        protocolVersion: revision,
        capabilities: {},
        clientInfo: { name: "a", version: "1" },
      }),
    );
    const { tools, resources, prompts } = body.result.capabilities;
    assert.equal({ tools, resources, prompts }, {
      tools: { listChanged: true },
      resources: { subscribe: true, listChanged: true },
      prompts: { listChanged: true },
    });
  }
  for (const list of ["tools", "resources", "prompts"]) {
    assert.equal((await server.post(request(`${list}/list`))).body.result[list], []);
  }
  const { body } = await server.post(request("tools/call", { name: "a" }));
  assert.is(body.error.code, -32000);
  source.change(named("a"));
  await new Promise((resolve) => setTimeout(resolve));
  assert.equal(await names(server), ["a"]);
});

test("a change of the source is offered, and stays after the server replaced its own", async () => {
  const source = newSource(named("b"));
  const server = newServer({ definitions: [named("a")], sources: [source] });
  assert.equal(await names(server), ["a", "b"]);
  source.change(named("c"));
  await new Promise((resolve) => setTimeout(resolve));
  assert.equal(await names(server), ["a", "c"]);
  await server.server.replace([named("d")]);
  assert.equal(await names(server), ["d", "c"]);
});

test("an invalid definition of a source that changed is a fault, and the earlier ones stay", async () => {
  const source = newSource(named("b"));
  const server = newServer({ definitions: [named("a")], sources: [source] });
  await names(server);
  source.change(named("no name"));
  await new Promise((resolve) => setTimeout(resolve));
  assert.equal(await names(server), ["a", "b"]);
  assert.is(server.events.filter(({ type }) => type === "fault").length, 1);
});

test("`arrange` chooses what clients are offered", async () => {
  const arrange = (all: readonly Definition[]) => [named("only", `one of ${all.length}`)];
  const server = newServer({ definitions: [named("a"), named("b")], arrange });
  assert.equal(await names(server), ["one of 2"]);
});

test.run();
