/**
 * Seals the records of the gateway with the current secret of the server that an earlier one sealed.
 *
 * @module
 */
import type { FindSecrets } from "../crypto/server_secrets.ts";
import { changeAll } from "../store/change_all.ts";
import type { Store } from "../store/store.ts";
import { createUpstreamSealer, type StoredUpstream } from "./stored/stored_upstream.ts";

/** Seals records anew while requests use and change them. Returns the number of records that it changed. */
export async function resealGatewayRecords(store: Store, secret: FindSecrets): Promise<number> {
  const upstreams = createUpstreamSealer(secret);
  return await changeAll<StoredUpstream>(store, ["upstream"], async ({ value }) => {
    const sealed = await upstreams.reseal(value.sealed, value.name);
    return sealed === undefined ? undefined : { ...value, sealed };
  });
}
