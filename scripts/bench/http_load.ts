/**
 * Sends requests over a fixed number of connections, for benchmarks.
 *
 * @module
 */
import { Pool } from "undici";

export interface Load {
  /** @throws {Error} for any status but 200, and for the text `"active":false` */
  post(path: string, body: string, type: string): Promise<void>;
  close(): Promise<void>;
}

export function openLoad(url: string, connections: number): Load {
  const pool = new Pool(url, { connections });
  return {
    async post(path, body, type) {
      const response = await pool.request({
        method: "POST",
        path,
        body,
        headers: { "content-type": type },
      });
      const text = await response.body.text();
      if (response.statusCode !== 200 || text.includes('"active":false')) {
        throw new Error(`${path}: unexpected response: ${text}`);
      }
    },
    close: () => pool.destroy(),
  };
}
