import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listObjectFiles } from '#base/object-files/object-directory.ts';
import { Problem } from '#base/problems.ts';
import { commandTable } from '#cli/command-table.ts';
import type { TestApp } from './app.ts';

/** `gw export|diff|apply` in this process, against an app. */

export interface CommandResult {
  readonly out: string;
  /** As the process would have it. */
  readonly code: number;
}

export type RunGw = (args: readonly string[], environment?: Record<string, string>) => Promise<CommandResult>;

export const createGw =
  (app: () => Pick<TestApp, 'url' | 'credentials'>, credential?: string): RunGw =>
  async (args, environment = {}) => {
    let out = '';
    let code = 0;
    const { url, credentials } = app();
    try {
      const [name = '', ...rest] = args;
      await commandTable.get(name)!.run(rest, {
        environment: {
          GW_URL: url.dashboard,
          GW_ACCESS_KEY: credential ?? credentials.admin_access_key,
          ...environment,
        },
        print: text => {
          out += text;
        },
        setExitCode: given => {
          code = given;
        },
      });
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      return { out: out + error.message, code: 1 };
    }
    return { out, code };
  };

/** Directories for exports, removed together. */
export function createDirectories() {
  const root = mkdtempSync(join(tmpdir(), 'gw-configuration-'));
  let count = 0;
  return {
    fresh: () => join(root, String(count++)),
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}

/** Text of every file by its path. */
export const readFiles = (directory: string): Record<string, string> =>
  Object.fromEntries(listObjectFiles(directory).map(file => [file, readFileSync(join(directory, file), 'utf8')]));

/** Variables of secrets in files, with the text after which each stands. */
export const findVariables = (files: Record<string, string>): { file: string; name: string; member: string }[] =>
  Object.entries(files).flatMap(([file, text]) =>
    [...text.matchAll(/^ *([^ \n]+): "\$\{env\.(\w+):-\*{8}\}"$/gm)].map(([, member, name]) => ({
      file,
      member: member!,
      name: name!,
    })),
  );
