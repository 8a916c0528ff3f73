import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { listen } from "./api/events";
import { App } from "./app";
import { Boundary } from "./ui/boundary";
import "./styles.css";

listen();
const root = document.getElementById("root");
if (root) {
  createRoot(root).render(
    <StrictMode>
      <Boundary what="page" of={[]}>
        <App />
      </Boundary>
    </StrictMode>,
  );
}
