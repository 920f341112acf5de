import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Guide {
  readonly name: string;
  readonly title: string;
  readonly text: string;
}

const directory = join(import.meta.dirname, '../../../docs/guide');

/** Guides of this installation by name, read once; none where the installation has no documentation. */
export function readGuides(): ReadonlyMap<string, Guide> {
  const guides = listGuideNames().map(name => {
    const text = readFileSync(join(directory, `${name}.md`), 'utf8');
    return [name, { name, title: /^# (.+)$/m.exec(text)?.[1] ?? name, text }] as const;
  });
  return new Map(guides);
}

function listGuideNames(): string[] {
  try {
    return readdirSync(directory).flatMap(file => (/^[\w-]+\.md$/.test(file) ? [file.slice(0, -3)] : []));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
