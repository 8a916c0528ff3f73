/** A choice among many: a field that finds what has the words typed, by keys or by pointer. */
import { useCombobox } from "downshift";
import { useState } from "react";
import * as api from "../api/client";
import { fitting, type Option } from "./fitting";
import { useLoad, useSettled } from "./load";

interface Props {
  label: string;
  placeholder: string;
  /** What there is to choose from, those that fit the words alone where `onWords` asks for them. */
  options: readonly Option[];
  onChoose: (value: string) => void;
  onWords?: (words: string) => void;
  /** What stands below the options. */
  remark?: string | undefined;
}

const MOST = 60;

export function Choice({ label, placeholder, options, onChoose, onWords, remark }: Props) {
  const [text, setText] = useState("");
  const found = onWords ? [...options] : fitting(options, text);
  const items = found.slice(0, MOST);
  const box = useCombobox<Option>({
    items,
    inputValue: text,
    selectedItem: null,
    itemToString: (item) => item?.label ?? "",
    onInputValueChange: ({ inputValue }) => {
      setText(inputValue);
      onWords?.(inputValue);
    },
    onSelectedItemChange: ({ selectedItem }) => {
      if (selectedItem) onChoose(selectedItem.value);
    },
    stateReducer: (state, { type, changes }) => {
      const types = useCombobox.stateChangeTypes;
      // What is chosen is shown elsewhere; the field is for the next choice. Leaving it chooses nothing.
      if (type === types.ItemClick || type === types.InputKeyDownEnter) return { ...changes, inputValue: changes.selectedItem ? "" : state.inputValue };
      return type === types.InputBlur ? { ...changes, selectedItem: null, inputValue: state.inputValue } : changes;
    },
  });
  return (
    <span className="field choice">
      <label {...box.getLabelProps()} className="hidden">
        {label}
      </label>
      <input {...box.getInputProps()} placeholder={placeholder} size={22} spellCheck={false} />
      <ul {...box.getMenuProps()} className="sheet tall" hidden={!box.isOpen}>
        {box.isOpen
          ? items.map((item, index) => (
              <li key={item.value} {...box.getItemProps({ item, index })} className={index === box.highlightedIndex ? "on" : undefined} title={item.label}>
                {item.label}
              </li>
            ))
          : null}
        {box.isOpen && (items.length === 0 || found.length > MOST || remark) ? (
          <li className="soft" role="presentation">
            {items.length === 0 ? "Nothing fits" : found.length > MOST ? `The first ${MOST} of ${found.length}` : remark}
          </li>
        ) : null}
      </ul>
    </span>
  );
}

const SHOWN = 40;

interface TrialProps {
  label: string;
  placeholder: string;
  /** Trials that are not offered. */
  without: readonly string[];
  /** Whether only trials that are done are offered. */
  done?: boolean;
  onChoose: (id: string) => void;
}

/** A trial of the workspace, found by its name, tags, note, fabric or digest; the newest first. */
export function TrialChoice({ label, placeholder, without, done = false, onChoose }: TrialProps) {
  const [words, setWords] = useState("");
  const search = useSettled(words, 150);
  const query = { search, sort: "created", order: "desc", limit: SHOWN, ...(done ? { state: "done" } : {}) };
  const found = useLoad(`choice:${JSON.stringify(query)}`, (signal) => api.trials(query, signal));
  const rows = found.data?.rows ?? [];
  const options = rows.filter((row) => !without.includes(String(row.id))).map((row) => ({ value: String(row.id), label: row.name }));
  const total = found.data?.total ?? 0;
  return (
    <Choice
      label={label}
      placeholder={placeholder}
      options={options}
      onWords={setWords}
      onChoose={onChoose}
      remark={total > rows.length ? `The newest ${rows.length} of ${total.toLocaleString("en")}; type to find others` : undefined}
    />
  );
}
