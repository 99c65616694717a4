/**
 * For tests: a context of operations on a memory store, and calls whose answers are checked against their schemas.
 *
 * @module
 */
import * as assert from "uvu/assert";
import type { TrivetEvent } from "../events.ts";
import { createRemoteDocuments } from "../oauth/clients/remote_document.ts";
import { createProviderDirectory } from "../oauth/sign_in/provider_directory.ts";
import { compileSchema } from "../json_schema/compile.ts";
import { serverSecret } from "../server_secret.ts";
import { memoryStore } from "../store/drivers/memory.ts";
import { type Store, timeOf } from "../store/store.ts";
import { type AdminContext, AdminError } from "./operation.ts";
import { ADMIN_OPERATIONS, callOperation } from "./operations.ts";

// deno-lint-ignore no-explicit-any
type Answer = any;

/** What a test works with. */
export interface TestAdmin {
  readonly store: Store;
  readonly context: AdminContext;
  readonly events: TrivetEvent[];
  /** The answer, which its schema allows. @param actor @default a key */
  call(name: string, input?: object, actor?: string): Promise<Answer>;
  /** The status and the message of the refusal. */
  refuse(name: string, input: unknown, actor?: string): Promise<readonly [status: number, message: string]>;
}

/** Calls operations on a store. */
export function newAdmin(store: Store = memoryStore(), more: Partial<AdminContext> = {}): TestAdmin {
  const events: TrivetEvent[] = [];
  const observe = (event: TrivetEvent) => void events.push(event);
  const now = () => timeOf(store);
  const secret = serverSecret(store);
  const providerFetch = () => Promise.reject(new Error("no network in this test"));
  const context: AdminContext = {
    store,
    now,
    observe,
    actor: "key_test",
    issuer: "https://admin.example",
    passwordIterations: 1000,
    providers: {
      store,
      secret,
      now,
      observe,
      providers: createProviderDirectory({ signIn: [], storedProviders: true, store, secret }),
      providerFetch,
      providerDocuments: createRemoteDocuments(providerFetch, now),
    },
    ...more,
  };
  return {
    store,
    context,
    events,
    async call(name, input = {}, actor = context.actor) {
      const answer = await callOperation({ ...context, actor }, name, input);
      const { output } = ADMIN_OPERATIONS[name]!;
      if (output) assert.equal(compileSchema(output)(answer), [], name);
      else assert.is(answer, undefined, name);
      return answer;
    },
    async refuse(name, input, actor = context.actor) {
      try {
        await callOperation({ ...context, actor }, name, input);
      } catch (error) {
        if (error instanceof AdminError) return [error.status, error.message];
        throw error;
      }
      throw new Error(`${name} was not refused`);
    },
  };
}
