/**
 * What `server.json` and server cards have in common: how a server is named and described for people and programs that
 * have not connected to it yet.
 *
 * @module
 */
import { isLoopbackHost } from "../../http/network/loopback.ts";
import type { Names } from "../../options/option_check.ts";
import type { Icon } from "../definition/content.ts";

/** Where the source of the server is. */
export interface Repository {
  readonly url: string;
  /** The host of the repository, such as `github`. */
  readonly source: string;
  /** The folder of the server in the repository. */
  readonly subfolder?: string;
  /** The id of the repository at its host, which stays when it is renamed. */
  readonly id?: string;
}

export const REPOSITORY_NAMES: Names<Repository> = {
  url: "string",
  source: "string",
  subfolder: "string",
  id: "string",
};

/** A value that the user of a server provides, such as a key. */
export interface ServerInput {
  readonly description?: string;
  readonly isRequired?: boolean;
  /** Whether clients must treat the value as a secret. */
  readonly isSecret?: boolean;
  readonly format?: "string" | "number" | "boolean" | "filepath";
  readonly default?: string;
  readonly placeholder?: string;
  readonly value?: string;
  readonly choices?: readonly string[];
}

/** A header field or an environment variable. */
export interface NamedInput extends ServerInput {
  readonly name: string;
  /** Variables in braces in `value`. */
  readonly variables?: Readonly<Record<string, ServerInput>>;
}

/** The members that both documents have. */
export interface PublishedServer {
  /** In reverse-DNS form with one slash, such as `com.example/weather`. */
  readonly name: string;
  readonly version: string;
  /** At most 100 characters. */
  readonly description: string;
  /** At most 100 characters. */
  readonly title?: string | undefined;
  readonly websiteUrl?: string | undefined;
  readonly repository?: Repository | undefined;
  readonly icons?: readonly Icon[] | undefined;
}

/**
 * The members in their order, without those that are `undefined`.
 * @param document the document in which they are, for errors
 * @throws {TypeError} naming the member and the rule
 */
export function publishedMembers(document: string, server: PublishedServer): Record<string, unknown> {
  const { name, version, description, title, websiteUrl, repository, icons } = server;
  const refuse = (member: string, rule: string): never => {
    throw new TypeError(`Cannot make ${document}: ${member} must ${rule}`);
  };
  if (!/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/.test(name) || name.length > 200) {
    refuse("name", 'be in reverse-DNS form with one slash, such as "com.example/weather"');
  }
  if (!isExactVersion(version)) refuse("version", 'be one version, such as "1.0.2", and no range');
  if (!hasLength(description, 100)) refuse("description", "have 1 to 100 characters");
  if (title !== undefined && !hasLength(title, 100)) refuse("title", "have 1 to 100 characters");
  if (websiteUrl !== undefined && !isHttps(websiteUrl)) refuse("websiteUrl", "be an https URL");
  if (repository) {
    if (!isHttps(repository.url)) refuse("repository.url", "be an https URL");
    if (!hasLength(repository.source, 100)) refuse("repository.source", 'be a name such as "github"');
    if (
      repository.subfolder !== undefined &&
      !/^(?!\/)(?!.*(^|\/)\.\.?(\/|$))[^\\\s]+$/.test(repository.subfolder)
    ) {
      refuse("repository.subfolder", "be a relative path");
    }
  }
  for (const { src } of icons ?? []) if (!isHttps(src)) refuse("icons", "have https URLs");
  const members = { name, version, description, title, websiteUrl, repository, icons };
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

/** Whether the text is one version, and not a range or a tag that moves. */
export function isExactVersion(version: string): boolean {
  return hasLength(version, 255) && version !== "latest" &&
    !/^[\^~<>=]|\s|\|\||(^|\.)[xX*](\.|$)/.test(version);
}

/** @throws {TypeError} for an address that clients elsewhere cannot use */
export function checkRemoteUrl(document: string, url: string): void {
  const host = URL.parse(url.replaceAll(/\{\w+\}/g, "x"))?.hostname;
  if (!/^https:\/\/\S+$/.test(url) || host === undefined || isLoopbackHost(host)) {
    throw new TypeError(`Cannot make ${document}: a remote must have an https URL that is not on loopback`);
  }
}

function hasLength(text: unknown, most: number): boolean {
  return typeof text === "string" && text.length >= 1 && text.length <= most;
}

function isHttps(text: string): boolean {
  return URL.parse(text)?.protocol === "https:";
}
