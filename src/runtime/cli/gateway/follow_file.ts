/**
 * Follows the file of `--mcp-servers` while the server runs: servers that are added, changed or removed there.
 *
 * @module
 */
import type { Gateway } from "../../../gateway/option.ts";
import type { McpServers } from "../../../gateway/upstream/configuration/configuration.ts";
import { watchFiles } from "../serve/watch_files.ts";
import { type CommandGateway, readGatewayFile } from "./gateway_file.ts";

/**
 * Follows the file. A file that cannot be used changes nothing.
 * @param report gets a line for people about each change and each problem
 * @returns the function that stops it
 */
export function followGatewayFile(
  { file }: CommandGateway,
  gateway: Pick<Gateway, "add" | "remove">,
  report: (message: string) => void,
): () => void {
  if (!file) return () => {};
  const { path } = file;
  let { content } = file;
  return watchFiles([path], async () => {
    try {
      const next = readGatewayFile(path);
      const { added, removed } = compare(content.mcpServers, next.mcpServers);
      for (const name of added) gateway.add(name, next.mcpServers[name]!);
      for (const name of removed) await gateway.remove(name);
      const isSame =
        JSON.stringify([content.policy, content.hold]) === JSON.stringify([next.policy, next.hold]);
      content = { ...next, policy: content.policy, hold: content.hold };
      if (!isSame) report(`"policy" and "hold" of "${path}" are read at the start only: restart the server`);
      if (added.length + removed.length > 0) {
        report(
          `MCP servers: ${
            [...added.map((name) => `+${name}`), ...removed.map((name) => `-${name}`)].join(" ")
          }`,
        );
      }
    } catch (error) {
      report(
        `${error instanceof Error ? error.message : String(error)}; the previous MCP servers stay in use`,
      );
    }
  });
}

/** Names that are new or changed, and names that are gone. */
export function compare(
  before: McpServers,
  after: McpServers,
): { readonly added: string[]; readonly removed: string[] } {
  const text = (servers: McpServers, name: string): string | undefined =>
    Object.hasOwn(servers, name) ? JSON.stringify(servers[name]) : undefined;
  return {
    added: Object.keys(after).filter((name) => text(before, name) !== text(after, name)),
    removed: Object.keys(before).filter((name) => text(after, name) === undefined),
  };
}
