import { Badge } from '../../kit/badge.tsx';
import { Card } from '../../kit/card.tsx';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation } from '../../kit/queries.ts';
import { QueryState } from '../../kit/states.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';

const own = adminTexts.general;

const toWords = (value: unknown) => {
  if (typeof value === 'boolean') return value ? own.on : own.off;
  return String(value ?? '') || own.empty;
};

/** Settings of the portal with their meaning and source. They are set where the process starts. */
export function GeneralPage() {
  const read = useOperation('GET /portal-api/configs', {});
  const settings = read.data?.value[0]?.General;
  return (
    <PageFrame title={own.title} about={own.about} width="form">
      {!settings && <QueryState query={read} />}
      {settings && (
        <Card>
          <dl className="flex flex-col gap-4">
            {settings.map(({ Name, Value, Source, About }) => (
              <div key={Name}>
                <dt className="flex flex-wrap items-center gap-2">
                  <code>{Name}</code>
                  <Badge>{own.sources[Source]}</Badge>
                </dt>
                <dd className="font-medium break-words">{toWords(Value)}</dd>
                <dd className="text-small text-dim">{About}</dd>
              </div>
            ))}
          </dl>
        </Card>
      )}
    </PageFrame>
  );
}
