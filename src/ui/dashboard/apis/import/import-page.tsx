import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { callServer, type ResultOf } from '../../../kit/calls.ts';
import { Card } from '../../../kit/card.tsx';
import { PageFrame } from '../../../kit/page-frame.tsx';
import { importApiTexts } from '../../../texts/en/import-api.ts';
import { toListenPath } from '../new-api.ts';
import { readServerUrl, readTitle } from './import-options.ts';
import { ImportOptionsCard } from './import-options-card.tsx';
import { emptySource, type ImportSource, SourceCard, toConvertBody } from './source-card.tsx';
import { StreamsCard } from './streams-card.tsx';

const own = importApiTexts;

/** An API from a description: read and checked by the server, previewed, then created or updated. */
export function ImportApiPage() {
  const [source, setSource] = useState(emptySource);
  const convert = useMutation({
    mutationFn: async (given: ImportSource) =>
      (await callServer('POST /api/apis/convert', { body: toConvertBody(given) })).value,
  });
  const change = (next: ImportSource) => {
    setSource(next);
    convert.reset();
  };
  return (
    <PageFrame title={own.title} width="form" about={own.about}>
      <div className="flex max-w-[960px] flex-col gap-4">
        <SourceCard
          source={source}
          onChange={change}
          onCheck={() => convert.mutate(source)}
          isBusy={convert.isPending}
          error={convert.error}
        />
        {convert.data && <Converted result={convert.data} text={source.text} />}
      </div>
    </PageFrame>
  );
}

type Result = ResultOf<'POST /api/apis/convert'>;

function Converted({ result, text }: { result: Result; text: string }) {
  const { document, warnings, kind, format } = result;
  const title = readTitle(document);
  return (
    <>
      {warnings.length > 0 && (
        <Card title={own.warnings(warnings.length)}>
          <ul className="list-disc pl-4">
            {warnings.map(warning => (
              <li key={warning} className="break-words">
                {warning}
              </li>
            ))}
          </ul>
        </Card>
      )}
      {kind === 'streams' ? (
        <StreamsCard document={document} format={format} />
      ) : (
        <ImportOptionsCard
          document={document}
          format={format}
          text={format === 'openapi' && text !== '' ? text : undefined}
          initial={{
            listenPath: toListenPath(title),
            upstream: readServerUrl(document),
            validateRequest: false,
            mockResponse: false,
            authentication: false,
            allowList: false,
            apiId: '',
          }}
        />
      )}
    </>
  );
}
