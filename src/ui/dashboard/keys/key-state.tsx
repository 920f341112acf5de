import { StatusPill } from '../../kit/badge.tsx';
import { TimeText } from '../../kit/time-text.tsx';
import { texts } from '../../texts/texts.ts';
import { isExpiredKey, type KeyFacts } from './key-facts.ts';

const own = texts.keys;

export function KeyState({ item }: { item: Pick<KeyFacts, 'isInactive' | 'expires'> }) {
  if (item.isInactive) return <StatusPill tone="neutral">{own.inactive}</StatusPill>;
  if (isExpiredKey(item)) return <StatusPill tone="danger">{own.expired}</StatusPill>;
  if (item.expires <= 0) return <StatusPill tone="success">{own.active}</StatusPill>;
  return (
    <StatusPill tone="warning">
      {own.expires} <TimeText time={item.expires} />
    </StatusPill>
  );
}
