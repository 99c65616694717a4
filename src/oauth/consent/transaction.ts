/**
 * Transactions: requests that wait for the user's decision. The page that asks carries a one-time token; the store has
 * its digest and the session to which the page was shown. A new login of the same user in the same browser continues the
 * session under another secret, so the page can still be answered.
 *
 * @module
 */
import { randomSecret, secretDigest } from "../../crypto/secret.ts";
import type { Entry } from "../../store/store.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { storeWithPushed } from "../endpoints/pushed_request.ts";
import { OAuthError } from "../error.ts";
import { type Transaction, type TransactionByKind, transactionKey } from "../records/authorization_record.ts";
import type { SignedIn } from "../users/session.ts";

const TRANSACTION_LIFETIME_MS = 10 * 60 * 1000;

/** Stores a transaction. @returns its one-time token */
export async function createTransaction(as: AuthorizationServer, transaction: Transaction): Promise<string> {
  const token = randomSecret("");
  const expires = as.now() + TRANSACTION_LIFETIME_MS;
  const pushed = transaction.kind === "authorization" ? transaction.pushed : undefined;
  await storeWithPushed(as, pushed, {
    key: transactionKey(secretDigest(token)),
    value: transaction,
    expires,
  });
  return token;
}

/**
 * The transaction of this token and kind.
 * @throws {OAuthError} invalid_request when it was answered, has expired, or belongs to another session
 */
export async function getTransaction<Kind extends Transaction["kind"]>(
  as: AuthorizationServer,
  { origin, user }: SignedIn,
  token: string | undefined,
  kind: Kind,
): Promise<Entry<TransactionByKind[Kind]>> {
  const entry = await as.store.get<TransactionByKind[Kind]>(transactionKey(secretDigest(token ?? "")));
  const isOwn = entry?.value.session === origin && entry.value.user === user.id;
  if (!isOwn || entry.value.kind !== kind) throw transactionEnded();
  return entry;
}

/** The error of a form whose transaction cannot be found. */
export function transactionEnded(): OAuthError {
  return new OAuthError(
    "invalid_request",
    "This request was already answered, has expired, or belongs to another session",
    { isEnded: true },
  );
}
