/**
 * Recognizes loopback hosts: the host names by which clients reach a server on their own machine (RFC 8252 section 7.3).
 *
 * @module
 */

const LOOPBACK_HOSTS: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** @param hostname as `URL.hostname` returns it: lower case, IPv6 in brackets, without the port */
export function isLoopbackHost(hostname: string): boolean {
  return LOOPBACK_HOSTS.has(hostname);
}

/** Whether the host of an absolute URL is loopback. @throws {TypeError} for text that is not a URL */
export function isLoopbackUrl(url: string): boolean {
  return isLoopbackHost(new URL(url).hostname);
}
