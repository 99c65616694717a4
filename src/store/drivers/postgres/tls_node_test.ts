import { type AddressInfo, createServer } from "node:net";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { StoreUnavailableError } from "../../store.ts";
import { postgresStore } from "../postgres.ts";

const test = suite("store/postgres_tls");

test("an sslmode other than disable, require and verify-full is refused", () => {
  for (const mode of ["foo", "verify-ca", "no-verify", "allow", "prefer", "require&sslmode=prefer", ""]) {
    assert.throws(() => postgresStore(`postgres://x/y?sslmode=${mode}`), /\bsslmode\b.*verify-full/, mode);
    assert.throws(() => postgresStore(`postgres://x/y?ssl=${mode}`), /\bssl(mode)?\b.*verify-full/, mode);
  }
});

for (const mode of ["require", "verify-full"]) {
  test(`sslmode=${mode}: the error names TLS when the server refuses it`, async () => {
    // https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-SSL
    const server = createServer((socket) => {
      socket.on("error", () => {});
      socket.once("data", () => {
        socket.write("N");
        socket.once("data", () => socket.destroy());
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const store = postgresStore(`postgres://user@127.0.0.1:${port}/test?sslmode=${mode}`);
    const error = await store.get(["a"]).catch((error) => error);
    await store.close();
    await new Promise((resolve) => server.close(resolve));
    assert.instance(error, StoreUnavailableError);
    assert.match(error.message, /TLS.*sslmode/);
  });
}

test.run();
