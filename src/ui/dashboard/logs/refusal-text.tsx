import { useQuery } from '@tanstack/react-query';
import { toRefusalText } from '../../kit/action-text.ts';
import { callServer } from '../../kit/calls.ts';

/** Meanings of refusal codes; they stay the same while the page is open. */
export function useRefusalAbout(): (code: string) => string | undefined {
  const { data } = useQuery({
    queryKey: ['GET /api/refusals'],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) => {
      const { refusals } = (await callServer('GET /api/refusals', {}, { signal })).value;
      return new Map(refusals.map(({ code, about }) => [code, about]));
    },
  });
  return code => data?.get(code);
}

/** Refusal in words, with its meaning; the code is in the tooltip. */
export function RefusalText({ code }: { code: string }) {
  const aboutOf = useRefusalAbout();
  return (
    <span className="flex flex-col">
      <span title={code}>{toRefusalText(code)}</span>
      <span className="text-small text-dim">{aboutOf(code)}</span>
    </span>
  );
}
