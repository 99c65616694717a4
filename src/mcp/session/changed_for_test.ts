import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { Principal } from "../../http/principal.ts";
import { memoryStore } from "../../store/drivers/memory.ts";
import { resource } from "../definition/define.ts";
import {
  client,
  type EventReader,
  modernHeaders,
  modernParams,
  readEvents,
  session,
} from "../test_exchange.ts";
import { newServer } from "../test_server.ts";

const test = suite("mcp/changed_for");

const principal = (members: Partial<Principal>): Principal => ({
  workspace: "default",
  scopes: new Set(),
  ...members,
});
/** By token. */
const CALLERS: Readonly<Record<string, Principal>> = {
  ada: principal({ subject: "ada", client: "desktop" }),
  "ada-phone": principal({ subject: "ada", client: "phone" }),
  bob: principal({ subject: "bob", client: "desktop" }),
  "foreign-ada": principal({ subject: "ada", client: "desktop", issuer: "https://other.example" }),
  "client-ada": principal({ client: "ada" }),
};
const URIS = ["test://inbox", "test://end"];

function newInstance(store = memoryStore()) {
  return newServer({
    store,
    definitions: URIS.map((uri) => resource({ uri, name: uri, read: () => "" })),
    identify: (request) => {
      const token = request.headers.get("authorization");
      return Promise.resolve(token === null ? "none" : CALLERS[token]!);
    },
  }).server;
}
type Instance = ReturnType<typeof newInstance>;
const headersOf = (token: string): Record<string, string> =>
  token === "anonymous" ? {} : { authorization: token };

/** Subscribes to the resources. */
const CLIENTS: Readonly<Record<string, (instance: Instance, token: string) => Promise<EventReader>>> = {
  async "a session"(instance, token) {
    const own = await session(instance, { headers: headersOf(token) });
    for (const uri of URIS) await own.request("resources/subscribe", { uri });
    const events = readEvents(await own.other("GET"));
    await events.next();
    return events;
  },
  async "subscriptions/listen"(instance, token) {
    const params = modernParams({ notifications: { resourceSubscriptions: URIS } });
    const headers = { ...modernHeaders("subscriptions/listen"), ...headersOf(token) };
    const message = { jsonrpc: "2.0", id: 1, method: "subscriptions/listen", params };
    const events = readEvents(await client(instance).fetch(message, headers));
    await events.message();
    return events;
  },
};

for (const [how, subscribe] of Object.entries(CLIENTS)) {
  test(`${how} gets the updates for all users, and of those for one user the caller's own, by any client`, async () => {
    const store = memoryStore();
    const sender = newInstance(store);
    const receiver = newInstance(store);
    const streams = new Map<string, EventReader>();
    const tokens = [...Object.keys(CALLERS), "anonymous"];
    for (const token of tokens) streams.set(token, await subscribe(receiver, token));
    const [inbox, end] = URIS as [string, string];
    for (
      const [changedFor, expected] of [
        [undefined, tokens],
        [CALLERS.ada, ["ada", "ada-phone"]],
        [CALLERS.bob, ["bob"]],
        [CALLERS["foreign-ada"], ["foreign-ada"]],
        [CALLERS["client-ada"], ["client-ada"]],
        ["anonymous", ["anonymous"]],
      ] as [Principal | "anonymous" | undefined, string[]][]
    ) {
      const user = changedFor === "anonymous" ? undefined : changedFor;
      await sender.resourceUpdated(inbox, changedFor && { user });
      await sender.resourceUpdated(end);
      const notified: string[] = [];
      for (const [token, events] of streams) {
        for (let uri; (uri = (await events.message()).params.uri) !== end;) {
          assert.is(uri, inbox);
          notified.push(token);
        }
      }
      assert.equal(notified, expected);
    }
    for (const events of streams.values()) await events.cancel();
  });
}

test.run();
