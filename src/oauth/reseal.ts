/**
 * Seals everything in the store with the current secret of the server that an earlier one sealed: the secrets of
 * authenticator apps, tokens that were kept for users, client secrets of identity providers, and connections to upstreams.
 *
 * @module
 */
import { createSealer } from "../crypto/seal.ts";
import type { FindSecrets } from "../crypto/server_secrets.ts";
import { changeAll } from "../store/change_all.ts";
import type { Store } from "../store/store.ts";
import {
  CONNECTIONS,
  CONNECTIONS_PURPOSE,
  REVOCATIONS,
  sealBinding,
  type SealedRecord,
  UPSTREAM_CLIENTS,
} from "./connection_records.ts";
import { totpPurpose } from "./factors/verify_code.ts";
import type { UserFactors } from "./factors/factor_record.ts";
import type { StoredProvider, StoredProviderTokens } from "./records/provider_record.ts";
import { bindingOfEntry, TOKENS_PURPOSE } from "./sign_in/provider_tokens.ts";
import { createSecretSealer } from "./sign_in/stored_provider.ts";

/** Seals records anew while requests use and change them. Returns the number of records that it changed. */
export async function resealRecords(store: Store, secret: FindSecrets): Promise<number> {
  const tokens = createSealer(secret, TOKENS_PURPOSE);
  const providers = createSecretSealer(secret);
  const connections = createSealer(secret, CONNECTIONS_PURPOSE);
  let ofUpstreams = 0;
  for (const prefix of [CONNECTIONS, UPSTREAM_CLIENTS, REVOCATIONS]) {
    ofUpstreams += await changeAll<SealedRecord>(store, prefix, async (entry) => {
      const sealed = await connections.reseal(entry.value.sealed, sealBinding(entry));
      return sealed === undefined ? undefined : { ...entry.value, sealed };
    });
  }
  return ofUpstreams + await changeAll<UserFactors>(store, ["user_factors"], async ({ key, value }) => {
    const { totp } = value;
    const sealed = totp && await createSealer(secret, totpPurpose(String(key[1]))).reseal(totp.sealed);
    return totp && sealed !== undefined ? { ...value, totp: { ...totp, sealed } } : undefined;
  }) +
    await changeAll<StoredProviderTokens>(store, ["provider_tokens"], async (entry) => {
      const sealed = await tokens.reseal(entry.value.sealed, bindingOfEntry(entry));
      return sealed === undefined ? undefined : { ...entry.value, sealed };
    }) +
    await changeAll<StoredProvider>(store, ["provider"], async ({ value }) => {
      const sealedSecret = value.sealedSecret && await providers.reseal(value.sealedSecret);
      return sealedSecret ? { ...value, sealedSecret } : undefined;
    });
}
