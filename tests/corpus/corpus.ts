import { chance } from './chance.ts';
import { notations } from './notations.ts';
import { pathMakers } from './path-makers.ts';
import { placeMakers } from './place-makers.ts';
import type { Made } from './samples.ts';
import { schemaMakers } from './schema-makers.ts';
import { textMakers } from './text-makers.ts';

/** One document of the corpus, as it is sent. */
export interface Sample extends Made {
  readonly name: string;
  readonly type: string;
  /** Written with the addresses of this run in it. */
  bytes(fill: (text: string) => string): Buffer;
}

const makers = [...pathMakers, ...schemaMakers, ...placeMakers, ...textMakers];

/** Documents as the world writes them, made up here, the same on every run. */
export const corpus: readonly Sample[] = makers.flatMap((maker, row) =>
  maker.variants.map((variant, at) => {
    const made = maker.make(variant, chance(row * 1000 + at), at);
    const { type, write } = notations[made.notation ?? 'json'];
    const label = typeof variant === 'string' ? variant : JSON.stringify(variant ?? null);
    return {
      ...made,
      name: `${maker.name} ${at + 1}: ${label.slice(0, 60)}`,
      type,
      bytes: fill => {
        const { document } = made;
        if (!made.ownServers) return write(document);
        return write(JSON.parse(fill(JSON.stringify(document))));
      },
    };
  }),
);
