/**
 * Test kit: a gateway with one upstream that alice connects, or has connected. Only tests import this.
 *
 * @module
 */
import * as assert from "uvu/assert";
import type { Principal } from "../../http/principal.ts";
import { connectionKey, type UpstreamConnection } from "../../oauth/connection_records.ts";
import type { OAuthOptions } from "../../options/oauth_options.ts";
import type { UpstreamAccess } from "./access.ts";
import {
  type Browser,
  callerOf,
  connectUser,
  failuresOf,
  newGateway,
  newUpstream,
  signedIn,
  type TestGateway,
  type TestUpstream,
  UPSTREAM,
  UPSTREAM_URL,
} from "./test_credentials.ts";

/** An upstream at which clients register. */
export const REGISTER = { clientMetadataDocuments: false } as const;

/** A gateway and its upstream. */
export interface TestPair extends TestGateway {
  readonly gateway: TestGateway;
  readonly upstream: TestUpstream;
  readonly access: UpstreamAccess;
}

export interface TestConnection extends TestPair {
  /** Where alice is signed in. */
  readonly browser: Browser;
  /** Alice. */
  readonly caller: Principal;
}

/** A gateway whose upstream "up" is the other Trivet. */
export async function newPair(oauth: OAuthOptions = REGISTER, auth: object = {}): Promise<TestPair> {
  const upstream = await newUpstream(oauth);
  const gateway = await newGateway({ upstream });
  const access = gateway.credentials.add("up", { url: UPSTREAM_URL, auth: { type: "oauth", ...auth } });
  return { upstream, gateway, access, ...gateway };
}

/** As {@linkcode newPair}, connected by alice. */
export async function newConnection(oauth?: OAuthOptions, auth?: object): Promise<TestConnection> {
  const pair = await newPair(oauth, auth);
  const browser = await signedIn(pair.gateway, pair.upstream, "alice");
  assert.is((await connectUser(browser)).status, 303, failuresOf(pair.gateway)[0]);
  return { ...pair, browser, caller: callerOf(pair.alice) };
}

/** Forms that the token endpoint of the upstream got with this grant type. */
export async function grantsOf({ requests }: TestUpstream, type: string): Promise<URLSearchParams[]> {
  const sent = requests.filter(({ url }) => url === `${UPSTREAM}/oauth/token`);
  const forms = await Promise.all(sent.map(async (each) => new URLSearchParams(await each.clone().text())));
  return forms.filter((form) => form.get("grant_type") === type);
}

/** The stored connection of alice. */
export async function connectionOf({ store, alice }: TestGateway): Promise<UpstreamConnection | undefined> {
  return (await store.get<UpstreamConnection>(connectionKey(alice, "up")))?.value;
}

/** A second instance on the same store. */
export async function newInstance(upstream: TestUpstream, { store }: TestGateway): Promise<TestGateway> {
  const gateway = await newGateway({ upstream, store });
  gateway.credentials.add("up", { url: UPSTREAM_URL, auth: { type: "oauth" } });
  return gateway;
}

/** What the promise rejects with. */
export async function thrownBy(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error("Nothing was thrown");
}
