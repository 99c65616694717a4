/**
 * Who the form of a login is from: a user of this server's store, or whoever the embedder says.
 *
 * @module
 */
import type { AuthenticatedUser, AuthorizationServer } from "./authorization_server.ts";
import { checkPassword, keepProfile } from "./user.ts";

/** The user, when the form proves who they are. */
export async function identify(
  as: AuthorizationServer,
  form: ReadonlyMap<string, string>,
  request: Request,
): Promise<AuthenticatedUser | undefined> {
  if (!as.authenticateUser) return await checkPassword(as, form.get("username")!, form.get("password")!);
  const user = await as.authenticateUser(form, request);
  if (user) await keepProfile(as.store, user);
  return user;
}
