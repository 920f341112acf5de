import { useEffect, useState } from 'react';
import { isNode, parse, parseDocument, stringify } from 'yaml';
import { CodeEditor } from '../../kit/code-editor.tsx';
import type { CodeOutline, TextRange } from '../../kit/code-types.ts';
import { parsePointer } from '../../kit/json-pointer.ts';
import { ErrorText } from '../../kit/states.tsx';
import { yamlSyntax } from '../../kit/yaml-completion.ts';
import { texts } from '../../texts/texts.ts';
import type { DefinitionDraft } from './designer/use-draft.ts';

const own = texts.apis;

const toYaml = (json: string) => stringify(JSON.parse(json), { lineWidth: 0 });

/** Range of the value at a JSON pointer; of the deepest part of its way that exists. */
function findYamlRange(text: string, pointer: string): TextRange {
  const document = parseDocument(text);
  const names = parsePointer(pointer);
  for (let length = names.length; length > 0; length--) {
    const node = document.getIn(names.slice(0, length), true);
    if (isNode(node) && node.range) return { from: node.range[0], to: Math.max(node.range[1], node.range[0] + 1) };
  }
  return { from: 0, to: Math.min(1, text.length) };
}

interface YamlEditorProps {
  readonly label: string;
  readonly draft: DefinitionDraft;
  readonly outline: CodeOutline | undefined;
  onFault(hasFault: boolean): void;
}

/** The draft as YAML. Text that is no YAML stays, with its fault, and does not change the draft. */
export default function YamlEditor({ label, draft, outline, onFault }: YamlEditorProps) {
  const [typed, setTyped] = useState(() => ({ json: draft.text, yaml: toYaml(draft.text) }));
  const [fault, setFault] = useState<Error>();
  // Only a change from outside replaces what is typed: discarded or merged edits, a later read.
  if (typed.json !== draft.text) {
    setTyped({ json: draft.text, yaml: toYaml(draft.text) });
    setFault(undefined);
  }
  useEffect(() => onFault(fault !== undefined), [fault, onFault]);
  const change = (text: string) => {
    if (text === typed.yaml) return;
    try {
      const json = JSON.stringify(parse(text), null, 2) ?? 'null';
      setTyped({ json, yaml: text });
      setFault(undefined);
      draft.setText(json);
    } catch (error) {
      setTyped({ json: draft.text, yaml: text });
      setFault(new Error(own.notYaml((error as Error).message)));
    }
  };
  return (
    <>
      <CodeEditor
        label={label}
        language="text"
        value={typed.yaml}
        isReadOnly={!draft.canWrite}
        marks={draft.check.marks}
        findRange={findYamlRange}
        outline={outline}
        syntax={yamlSyntax}
        onChange={change}
      />
      <ErrorText error={fault} />
    </>
  );
}
