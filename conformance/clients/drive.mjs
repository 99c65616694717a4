/**
 * What the drivers have in common: the environment, the sign-in, and the exit code. Any error of the client is a refusal.
 *
 * @module
 */
import process from "node:process";

export const base = process.env.CONFORMANCE_BASE;
export const clientId = process.env.CONFORMANCE_CLIENT_ID;
export const clientSecret = process.env.CONFORMANCE_CLIENT_SECRET;
export const redirectUri = process.env.CONFORMANCE_REDIRECT_URI;
export const scope = process.env.CONFORMANCE_SCOPE;
export const text = process.env.CONFORMANCE_TEXT;

/** Requests an authorization URL as a browser does, and returns the URL of the redirect. */
export async function signIn(url) {
  const response = await fetch(url, { redirect: "manual" });
  return new URL(response.headers.get("location"));
}

/** Performs the flow that the kit asks for, and exits. @param flows functions by name of the flow */
export async function drive(flows) {
  const flow = flows[process.env.CONFORMANCE_FLOW];
  if (!flow) process.exit(4);
  process.on("uncaughtException", refuse);
  process.on("unhandledRejection", refuse);
  try {
    console.log(JSON.stringify(await flow()) ?? "done");
    process.exit(0);
  } catch (error) {
    refuse(error);
  }
}

function refuse(error) {
  console.log(String(error?.message ?? error).replaceAll("\n", " "));
  process.exit(3);
}
