/**
 * `oidc-provider` with its own login and consent pages. Its memory adapter stores at most 1,000 records and searches all
 * tokens of a grant for each new one, so this file gives it a faster adapter that uses Maps.
 *
 * @module
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import process from "node:process";
import { CLIENT, LIFETIME_SECONDS, SCOPE, serveParent } from "./child.ts";

const { default: Provider } = await import(process.argv[2]!);
// Discards its warnings that the pages are not for production.
console.warn = console.info = () => {};

interface Payload {
  readonly uid?: string;
  readonly grantId?: string;
  consumed?: number;
}
interface StoredPayload {
  readonly payload: Payload;
  /** Milliseconds since the epoch. */
  readonly expires: number;
}

const byUid = new Map<string, StoredPayload>();
const byGrant = new Map<string, Set<() => void>>();

/** Finds records until they expire, by id and by uid, and removes all records of a grant. */
class MapAdapter {
  readonly records: Map<string, StoredPayload> = new Map();

  async upsert(id: string, payload: Payload, expiresIn: number): Promise<void> {
    const stored = { payload, expires: Date.now() + expiresIn * 1000 };
    this.records.set(id, stored);
    const { uid, grantId } = payload;
    if (uid !== undefined) byUid.set(uid, stored);
    if (grantId === undefined) return;
    const members = byGrant.get(grantId) ?? new Set();
    byGrant.set(grantId, members.add(() => this.records.delete(id)));
  }
  async find(id: string): Promise<Payload | undefined> {
    return toLivePayload(this.records.get(id));
  }
  async findByUid(uid: string): Promise<Payload | undefined> {
    return toLivePayload(byUid.get(uid));
  }
  async consume(id: string): Promise<void> {
    this.records.get(id)!.payload.consumed = Math.floor(Date.now() / 1000);
  }
  async destroy(id: string): Promise<void> {
    this.records.delete(id);
  }
  async revokeByGrantId(grantId: string): Promise<void> {
    for (const remove of byGrant.get(grantId) ?? []) remove();
    byGrant.delete(grantId);
  }
}

function toLivePayload(stored: StoredPayload | undefined): Payload | undefined {
  return stored && stored.expires > Date.now() ? stored.payload : undefined;
}

const server = createServer();
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const { port } = server.address() as AddressInfo;
const provider = new Provider(`http://127.0.0.1:${port}`, {
  adapter: MapAdapter,
  clients: [{
    client_id: CLIENT.id,
    client_secret: CLIENT.secret,
    redirect_uris: [CLIENT.redirect_uri],
    grant_types: ["authorization_code", "refresh_token", "client_credentials"],
    token_endpoint_auth_method: "client_secret_post",
  }],
  scopes: [SCOPE],
  features: { clientCredentials: { enabled: true }, introspection: { enabled: true } },
  issueRefreshToken: async () => true,
  rotateRefreshToken: true,
  ttl: {
    AuthorizationCode: LIFETIME_SECONDS,
    AccessToken: LIFETIME_SECONDS,
    ClientCredentials: LIFETIME_SECONDS,
    RefreshToken: LIFETIME_SECONDS,
    Grant: LIFETIME_SECONDS,
  },
  cookies: { keys: ["a key for the cookies of this run"] },
});
server.on("request", provider.callback());

const client = await provider.Client.find(CLIENT.id);
serveParent(port, () => new provider.ClientCredentials({ client, scope: SCOPE }).save());
