// @ts-check
// A `tenter ui` of this working copy, in a folder of its own.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { binary } from "./make-trials.js";

export class Server {
  constructor() {
    this.folder = mkdtempSync(join(tmpdir(), "tenter-ui-"));
    this.url = "";
    this.token = "";
    /** @type {import("node:child_process").ChildProcess | undefined} */
    this.child = undefined;
  }

  /**
   * Starts it on a port, one that is free unless given, and waits until it says where it is.
   * @param {string[]} [more]
   * @param {string} [port]
   */
  async start(more = [], port = "0") {
    const child = spawn(binary(), ["ui", join(this.folder, "trials"), "--port", port, "--no-open", ...more], {
      cwd: this.folder,
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.child = child;
    const printed = await new Promise((found, failed) => {
      let said = "";
      const read = (/** @type {Buffer} */ part) => {
        said += part.toString();
        const address = /(http:\/\/\S+)\/\?token=(\w+)\s/.exec(said);
        if (address) found(address);
      };
      child.stdout?.on("data", read);
      child.stderr?.on("data", read);
      child.on("exit", (code) => failed(new Error(`tenter ui ended with ${code}: ${said}`)));
    });
    [, this.url, this.token] = printed;
    return this.url;
  }

  /** The address that it has printed. */
  get entrance() {
    return `${this.url}/?token=${this.token}`;
  }

  /** @param {NodeJS.Signals} signal */
  async stop(signal = "SIGTERM") {
    const { child } = this;
    if (!child || child.exitCode !== null) return;
    const ended = new Promise((done) => child.once("exit", done));
    child.kill(signal);
    await ended;
  }

  async remove() {
    await this.stop("SIGKILL");
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/**
 * Opens a page of it, and notes whatever the console, the page or the network complains of.
 * @param {import("playwright-core").Browser} browser
 * @param {Server} server
 * @param {import("playwright-core").BrowserContextOptions} [options]
 */
export async function openPage(browser, server, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, acceptDownloads: true, ...options });
  const page = await context.newPage();
  /** @type {string[]} */
  const complaints = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(`${message.text()} ${message.location().url}`);
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(server.url) && !url.startsWith("data:") && !url.startsWith("blob:")) complaints.push(`fetches ${url}`);
  });
  await page.goto(server.entrance);
  // The token leaves the address bar.
  await page.waitForURL(`${server.url}/`);
  return { page, complaints, context };
}
