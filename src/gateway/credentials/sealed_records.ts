/**
 * Seals and opens the secrets of records, with a cache of those that were opened: a call of a tool then costs one read of
 * the store and no decryption.
 *
 * @module
 */
import { createSealer } from "../../crypto/seal.ts";
import type { FindSecrets } from "../../crypto/server_secrets.ts";
import { CONNECTIONS_PURPOSE, sealBinding, type SealedRecord } from "../../oauth/connection_records.ts";
import type { Entry, Key } from "../../store/store.ts";

const MAX_OPENED = 1000;

export interface SealedRecords {
  /** JSON, sealed for the record with this key and URL only. */
  seal(key: Key, url: string, secrets: object): Promise<string>;
  /** The secrets of a record; `undefined` when they were sealed for another record, or by another server. */
  open<Secrets extends object>(entry: Entry<SealedRecord>): Promise<Secrets | undefined>;
}

export function createSealedRecords(secret: FindSecrets): SealedRecords {
  const sealer = createSealer(secret, CONNECTIONS_PURPOSE);
  /** By what the seal is bound to, which names user and upstream, and the sealed text. Least recently used first. */
  const opened = new Map<string, object>();
  return {
    seal: (key, url, secrets) =>
      sealer.seal(JSON.stringify(secrets), sealBinding({ key, value: { url, sealed: "" } })),
    async open<Secrets extends object>(entry: Entry<SealedRecord>) {
      const boundTo = sealBinding(entry);
      const name = `${boundTo} ${entry.value.sealed}`;
      let secrets = opened.get(name) as Secrets | undefined;
      if (secrets === undefined) {
        const text = await sealer.unseal(entry.value.sealed, boundTo);
        if (text === undefined) return undefined;
        secrets = JSON.parse(text) as Secrets;
      }
      opened.delete(name);
      opened.set(name, secrets);
      if (opened.size > MAX_OPENED) opened.delete(opened.keys().next().value!);
      return secrets;
    },
  };
}
