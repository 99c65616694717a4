/**
 * The built-in client with which the page of administration signs in.
 *
 * @module
 */
import type { ClientRegistration } from "../oauth/clients/client_registration.ts";

/** The id of the built-in client with which the page signs in. */
export const ADMIN_CLIENT_ID = "trivet-admin";

/** The public client of the page. It gets no more than the scope `admin`, and only for users who may grant it. */
export function adminClient(place: string): ClientRegistration {
  return {
    id: ADMIN_CLIENT_ID,
    name: "Administration of this server",
    redirect_uris: [`${place}/admin`],
    grant_types: ["authorization_code"],
    scope: "admin",
    trusted: true,
  };
}
