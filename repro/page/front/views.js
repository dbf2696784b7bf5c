// The tabs by name, in their order.
//
// A view is a class: `title` and `hint` say what a visitor does there; `fits(options)` whether a
// page has something to show in it; `asks` whether there is a sentence to choose, and `reads`
// whether its translation is shown, too. An object of it is made once its tab is opened, and has
// `draw()`, and where it needs them `update()` after each step and `looked()` after each look.

import { AttentionTab } from "./attention_tab.js";
import { ClaimsTab } from "./claims_tab.js";
import { CompareTab } from "./compare_tab.js";
import { HeadsTab } from "./heads_tab.js";
import { PlaygroundTab } from "./playground_tab.js";
import { PruningTab } from "./pruning_tab.js";
import { StepTab } from "./step_tab.js";

export const VIEWS = {
  heads: HeadsTab,
  attention: AttentionTab,
  playground: PlaygroundTab,
  compare: CompareTab,
  pruning: PruningTab,
  step: StepTab,
  claims: ClaimsTab,
};
