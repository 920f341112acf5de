import { z } from 'zod';

const maxTags = 10;

/** Tags of a query, comma-separated: a request must have all of them. */
export const tagFilter = z
  .string()
  .max(1000)
  .transform(text =>
    text
      .split(',')
      .map(tag => tag.trim())
      .filter(Boolean),
  )
  .pipe(z.array(z.string()).max(maxTags, `must be at most ${maxTags} tags`));
