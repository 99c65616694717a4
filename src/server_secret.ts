/**
 * The secrets of a server, which sign cursors and cookies and seal values: random keys in its store, shared by all
 * instances.
 *
 * @module
 */
import type { FindSecrets } from "./crypto/server_secrets.ts";
import type { Store } from "./store/store.ts";

export type { FindSecrets, ServerSecrets } from "./crypto/server_secrets.ts";

/** Finds the secrets of the servers on this store. Instances follow a rotation within ten seconds. */
export function serverSecret(store: Store): FindSecrets {
  let find: FindSecrets | undefined;
  return () =>
    find
      ? find()
      : import("./server_secret/read_secrets.ts").then(({ createSecretReader }) =>
        (find ??= createSecretReader(store))()
      );
}
