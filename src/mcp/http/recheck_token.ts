/**
 * Checks a token again: that of an open stream, and that of a client which held back its body.
 *
 * @module
 */
import type { Principal } from "../../http/principal.ts";
import { type Admit, isRefusal } from "./http_options.ts";

/** Whether the token of an open stream is still valid. Streams ask with every keep-alive comment. */
export async function isCurrent(principal: Principal | undefined, now: () => number): Promise<boolean> {
  if (principal?.expires !== undefined && principal.expires <= now()) return false;
  return await principal?.isStillValid?.() ?? true;
}

/** The refusal of a token that is no longer valid. @param admit authenticates the request again, which writes the refusal */
export async function refuseRevoked(
  principal: Principal | undefined,
  now: () => number,
  admit: () => ReturnType<Admit>,
): Promise<Response | undefined> {
  if (await isCurrent(principal, now)) return undefined;
  const admitted = await admit();
  return isRefusal(admitted) ? admitted : undefined;
}
