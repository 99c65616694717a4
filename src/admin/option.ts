/**
 * The option `admin` of `createTrivet`: what it makes, and what it is made from.
 *
 * @module
 */
import type { Gateway } from "../gateway/option.ts";
import type { Observe } from "../events.ts";
import type { IdentifyCaller } from "../http/principal.ts";
import type { Service } from "../http/service.ts";
import type { AuthorizationServerOptions } from "../oauth/authorization_server.ts";
import type { ClientRegistration } from "../oauth/clients/client_registration.ts";
import type { PageSettings } from "../oauth/pages/settings.ts";
import type { ProviderAccess } from "../oauth/sign_in/provider_tokens.ts";
import type { BlobStore } from "../skills/blobs/blob_store.ts";
import type { Store } from "../store/store.ts";
import type { AdminTool } from "./operation.ts";
import type { ToolCounts } from "./tool_counts.ts";

/** What the administration works with. */
export interface AdminServer {
  readonly store: Store;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly observe: Observe;
  readonly issuer: string;
  /** Scheme, host and port of the issuer. */
  readonly origin: string;
  /** The path of the issuer without a slash at its end. */
  readonly base: string;
  /** The caller at the resource `<issuer>/admin`. */
  readonly identify: IdentifyCaller;
  /** The address of the metadata of that resource (RFC 9728). */
  readonly resourceMetadata: string;
  readonly providers: ProviderAccess;
  /** Settings of the authorization server. */
  readonly oauth: Pick<
    AuthorizationServerOptions,
    | "accessTokenLifetime"
    | "clients"
    | "defaultRole"
    | "openid"
    | "passwordIterations"
    | "redirectSchemes"
    | "resources"
    | "scopes"
  >;
  /** How pages look. */
  readonly pages: PageSettings;
  /** Where files of skills are. @default in the store */
  readonly blobs?: BlobStore | undefined;
  /** The gateway; absent where none runs. */
  readonly gateway?: Pick<Gateway, "status" | "stored"> | undefined;
  /** The tools of the MCP server; absent where it does not run. */
  readonly tools?: (() => readonly AdminTool[]) | undefined;
}

/** The value of the option `admin`: `admin()` of `trivet/admin`. */
export interface AdminOption {
  /** The client with which the page signs in. @param place the address of the server without a slash at its end */
  client(place: string): ClientRegistration;
  /** Counts the calls of tools among the events. */
  countTools(observe: Observe): ToolCounts;
  /** Makes the service. */
  createService(server: AdminServer): Service;
}
